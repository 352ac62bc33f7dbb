// The ways: for each kind and algorithm the functions that compute its steps. schedule.cpp has the
// table of them, and does teams of one member itself.
// Invariants: the functions of a way are called only for the kind and algorithm of its place in the
// table, and with two members or more. `at` is given an empty phase.
// Owner: none; constants. Threads: any.
#pragma once

#include "schedule/schedule.hpp"

namespace photon::schedule {

struct Way {
  bool (*knows)(const Call& call) noexcept = nullptr;
  std::uint64_t (*phases)(const Call& call) noexcept = nullptr;
  void (*at)(const Call& call, std::uint64_t index, Phase& phase) noexcept = nullptr;
  std::uint64_t (*temp)(const Call& call) noexcept = nullptr;
};

template <class A>
constexpr Way way_of() noexcept {
  return {A::knows, A::phases, A::at, A::temp};
}

// trees.cpp
extern const Way kBcastBinomial, kBcastKnomial, kReduceBinomial;
// branches.cpp
extern const Way kGatherBinomial, kScatterBinomial;
// rooted.cpp
extern const Way kBcastLinear, kGatherLinear, kScatterLinear;
// chains.cpp
extern const Way kBcastChain, kReduceChain, kAllreduceChain, kScanChain, kExscanChain;
// doublings.cpp
extern const Way kBarrierDissemination, kAllreduceDoubling, kScanDoubling, kExscanDoubling;
// allgathers.cpp
extern const Way kAllgatherRing, kAllgatherLinear, kAllgatherDoubling, kAllgatherBruck;
// member_order.cpp
extern const Way kReduceLinear, kAllreduceLinear, kAllreduceDirect;
extern const Way kReduceScatterDirect, kReduceScatterPairwise;
// rings.cpp
extern const Way kAllreduceRing, kReduceScatterRing, kBcastScatterAllgather;
// exchanges.cpp
extern const Way kAlltoallPairwise, kAlltoallLinear, kAlltoallBruck;
// halvings.cpp
extern const Way kReduceRabenseifner, kAllreduceRabenseifner, kReduceScatterRabenseifner;
// leaders.cpp: one way for all kinds that the algorithm can do
extern const Way kByLeaders;
// circulant.cpp
extern const Way kBcastCirculant;

}  // namespace photon::schedule
