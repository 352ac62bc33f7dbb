// The table of algorithms: for each kind what computes its steps. Teams of one are not among them.
// Invariants: functions of a way are called for the kind and algorithm of its place alone, with
// two members or more; `at` finds an empty phase.
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
// leaders.cpp: of all kinds that have it
extern const Way kByLeaders;
// circulant.cpp
extern const Way kBcastCirculant;

}  // namespace photon::schedule
