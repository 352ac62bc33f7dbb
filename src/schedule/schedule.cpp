// From a call to the functions of its algorithm; teams of one member; names.
#include "schedule/schedule.hpp"

#include "schedule/pieces.hpp"
#include "schedule/ways.hpp"

namespace photon::schedule {
namespace {

struct Place {
  Kind kind;
  Algorithm algorithm;
  const Way* way;
};

constexpr Place kPlaces[] = {
    {Kind::barrier, Algorithm::dissemination, &kBarrierDissemination},
    {Kind::barrier, Algorithm::leaders, &kByLeaders},
    {Kind::bcast, Algorithm::leaders, &kByLeaders},
    {Kind::reduce, Algorithm::leaders, &kByLeaders},
    {Kind::allreduce, Algorithm::leaders, &kByLeaders},
    {Kind::bcast, Algorithm::linear, &kBcastLinear},
    {Kind::bcast, Algorithm::chain, &kBcastChain},
    {Kind::bcast, Algorithm::binomial, &kBcastBinomial},
    {Kind::bcast, Algorithm::knomial, &kBcastKnomial},
    {Kind::bcast, Algorithm::scatter_allgather, &kBcastScatterAllgather},
    {Kind::bcast, Algorithm::circulant, &kBcastCirculant},
    {Kind::reduce, Algorithm::linear, &kReduceLinear},
    {Kind::reduce, Algorithm::chain, &kReduceChain},
    {Kind::reduce, Algorithm::binomial, &kReduceBinomial},
    {Kind::reduce, Algorithm::rabenseifner, &kReduceRabenseifner},
    {Kind::allreduce, Algorithm::linear, &kAllreduceLinear},
    {Kind::allreduce, Algorithm::chain, &kAllreduceChain},
    {Kind::allreduce, Algorithm::recursive_doubling, &kAllreduceDoubling},
    {Kind::allreduce, Algorithm::rabenseifner, &kAllreduceRabenseifner},
    {Kind::allreduce, Algorithm::ring, &kAllreduceRing},
    {Kind::allreduce, Algorithm::direct, &kAllreduceDirect},
    {Kind::scan, Algorithm::chain, &kScanChain},
    {Kind::scan, Algorithm::recursive_doubling, &kScanDoubling},
    {Kind::exscan, Algorithm::chain, &kExscanChain},
    {Kind::exscan, Algorithm::recursive_doubling, &kExscanDoubling},
    {Kind::gather, Algorithm::linear, &kGatherLinear},
    {Kind::gather, Algorithm::binomial, &kGatherBinomial},
    {Kind::scatter, Algorithm::linear, &kScatterLinear},
    {Kind::scatter, Algorithm::binomial, &kScatterBinomial},
    {Kind::allgather, Algorithm::linear, &kAllgatherLinear},
    {Kind::allgather, Algorithm::recursive_doubling, &kAllgatherDoubling},
    {Kind::allgather, Algorithm::ring, &kAllgatherRing},
    {Kind::allgather, Algorithm::bruck, &kAllgatherBruck},
    {Kind::alltoall, Algorithm::linear, &kAlltoallLinear},
    {Kind::alltoall, Algorithm::pairwise, &kAlltoallPairwise},
    {Kind::alltoall, Algorithm::bruck, &kAlltoallBruck},
    {Kind::reduce_scatter, Algorithm::pairwise, &kReduceScatterPairwise},
    {Kind::reduce_scatter, Algorithm::ring, &kReduceScatterRing},
    {Kind::reduce_scatter, Algorithm::rabenseifner, &kReduceScatterRabenseifner},
    {Kind::reduce_scatter, Algorithm::direct, &kReduceScatterDirect},
};

using Row = std::array<const Way*, kAlgorithms>;

constexpr std::array<Row, kKinds> table_of_ways() noexcept {
  std::array<Row, kKinds> table{};
  for (const Place& place : kPlaces)
    table[static_cast<std::size_t>(place.kind)][static_cast<std::size_t>(place.algorithm)] =
        place.way;
  return table;
}
constexpr std::array<Row, kKinds> kWays = table_of_ways();

const Way* way_of_call(const Call& call) noexcept {
  const auto kind = static_cast<std::size_t>(call.kind);
  const auto algorithm = static_cast<std::size_t>(call.algorithm);
  return kind < kKinds && algorithm < kAlgorithms ? kWays[kind][algorithm] : nullptr;
}

// Of a team of one: the input is the output.
bool copies_alone(const Call& call) noexcept {
  const bool has_input =
      call.kind != Kind::barrier && call.kind != Kind::bcast && call.kind != Kind::exscan;
  return has_input && !call.in_place;
}
void copy_alone(const Call& call, Phase& phase) noexcept {
  Range from{Space::in, 0, call.count};
  Range to{Space::out, 0, call.count};
  if (call.kind == Kind::scatter || call.kind == Kind::alltoall ||
      call.kind == Kind::reduce_scatter)
    from = in_block(call, 0);
  if (call.kind == Kind::gather || call.kind == Kind::allgather || call.kind == Kind::alltoall)
    to = out_block(call, 0);
  // The other side's count is the same, but that `out` may have room for more.
  if (call.kind == Kind::gather || call.kind == Kind::allgather) from.count = to.count;
  to.count = from.count;
  phase.add(copy_of(from, to));
}

}  // namespace

bool knows(const Call& call) noexcept {
  const Way* way = way_of_call(call);
  return way != nullptr && way->knows(call);
}

std::uint64_t phases_of(const Call& call) noexcept {
  if (call.size == 1) return copies_alone(call);
  return way_of_call(call)->phases(call);
}

void phase_at(const Call& call, std::uint64_t index, Phase& phase) noexcept {
  phase.count = 0;
  phase.after_sends = false;
  if (call.size == 1) return copy_alone(call, phase);
  way_of_call(call)->at(call, index, phase);
}

std::uint64_t temp_of(const Call& call) noexcept {
  return call.size == 1 ? 0 : way_of_call(call)->temp(call);
}

const char* name_of(Kind kind) noexcept {
  constexpr std::array<const char*, kKinds> kNames = {
      "barrier", "bcast",   "reduce",    "allreduce", "scan",          "exscan",
      "gather",  "scatter", "allgather", "alltoall",  "reduce_scatter"};
  const auto index = static_cast<std::size_t>(kind);
  return index < kKinds ? kNames[index] : "unknown";
}

const char* name_of(Algorithm algorithm) noexcept {
  constexpr std::array<const char*, kAlgorithms> kNames = {
      "linear",       "chain",  "binomial", "knomial",  "dissemination", "recursive_doubling",
      "rabenseifner", "ring",   "bruck",    "pairwise", "direct",        "scatter_allgather",
      "circulant",    "leaders"};
  const auto index = static_cast<std::size_t>(algorithm);
  return index < kAlgorithms ? kNames[index] : "unknown";
}

}  // namespace photon::schedule
