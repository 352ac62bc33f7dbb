// The steps of each kind: who sends what to whom, in which order.
#include <cstring>
#include <utility>

#include "pwc_provider.hpp"

namespace {

constexpr std::uint32_t kPartStep = 300;

}  // namespace

void PwcProvider::plan(const ph_coll_team& team, Operation& op) {
  switch (op.call->kind) {
    case PH_COLL_BARRIER: return plan_barrier(team, op);
    case PH_COLL_BCAST: return plan_bcast(team, op.call->root, op);
    case PH_COLL_ALLREDUCE: plan_chain(team, op); return plan_bcast(team, team.count - 1, op);
    case PH_COLL_GATHERV: return plan_gatherv(team, op);
    case PH_COLL_ALLTOALLV: return plan_alltoallv(team, op);
    default: return plan_chain(team, op);
  }
}

void PwcProvider::add(Operation& op, Action action, std::uint32_t member, Part part) {
  op.steps.push_back({action, member, kPartStep, part.at, part.bytes});
}

PwcProvider::Part PwcProvider::part_of(const ph_coll_call& call, bool goes, std::uint32_t member) {
  auto* const from = static_cast<std::byte*>(goes ? const_cast<void*>(call.in) : call.out);
  const std::uint64_t count = (goes ? call.in_counts : call.out_counts)[member];
  if (count == 0) return {nullptr, 0};  // a buffer of no bytes may be null
  const std::uint64_t first = (goes ? call.in_offsets : call.out_offsets)[member];
  return {from + first * call.element_bytes, count * call.element_bytes};
}

void PwcProvider::plan_gatherv(const ph_coll_team& team, Operation& op) {
  const ph_coll_call& call = *op.call;
  auto* const own = static_cast<std::byte*>(const_cast<void*>(call.in));
  const Part given{own, call.own_count * call.element_bytes};
  if (team.own != call.root) return add(op, Action::send, call.root, given);
  const Part place = part_of(call, false, team.own);
  if (call.in != PH_IN_PLACE && place.bytes != 0) std::memcpy(place.at, own, place.bytes);
  for (std::uint32_t from = 0; from < team.count; ++from)
    if (from != team.own) add(op, Action::receive, from, part_of(call, false, from));
}

// In the order of distance. In place what is sent is kept until then.
void PwcProvider::plan_alltoallv(const ph_coll_team& team, Operation& op) {
  const ph_coll_call& call = *op.call;
  const bool in_place = call.in == PH_IN_PLACE;
  std::vector<Part> sent(team.count);
  std::uint64_t all = 0;
  for (std::uint32_t to = 0; to < team.count; ++to) {
    sent[to] = part_of(call, !in_place, to);
    all += sent[to].bytes;
  }
  if (in_place) op.temp.resize(all);
  std::byte* kept = op.temp.data();
  for (Part& part : sent) {
    if (!in_place || part.bytes == 0) continue;
    std::memcpy(kept, part.at, part.bytes);
    part.at = std::exchange(kept, kept + part.bytes);
  }
  const Part own = part_of(call, false, team.own);
  if (!in_place && own.bytes != 0) std::memcpy(own.at, sent[team.own].at, own.bytes);
  for (std::uint32_t by = 1; by < team.count; ++by) {
    const std::uint32_t from = (team.own + team.count - by) % team.count;
    const std::uint32_t to = (team.own + by) % team.count;
    add(op, Action::send, to, sent[to]);
    add(op, Action::receive, from, part_of(call, false, from));
  }
}

// Dissemination.
void PwcProvider::plan_barrier(const ph_coll_team& team, Operation& op) {
  std::uint32_t round = 0;
  for (std::uint64_t distance = 1; distance < team.count; distance *= 2, ++round) {
    const auto by = static_cast<std::uint32_t>(distance);
    op.steps.push_back({Action::send, (team.own + by) % team.count, round, nullptr, 0});
    op.steps.push_back(
        {Action::receive, (team.own + team.count - by) % team.count, round, nullptr, 0});
  }
}

// A binomial tree, whose places are counted from the root.
void PwcProvider::plan_bcast(const ph_coll_team& team, std::uint32_t root, Operation& op) {
  constexpr std::uint32_t kStep = 100;
  auto* const buffer = static_cast<std::byte*>(op.call->out);
  const std::uint64_t bytes = op.size_bytes;
  const std::uint64_t count = team.count;
  const std::uint64_t place = (team.own + count - root) % count;
  const auto member = [&](std::uint64_t at) {
    return static_cast<std::uint32_t>((at + root) % count);
  };
  std::uint64_t lowest = 1;
  while (lowest < count && (place & lowest) == 0) lowest *= 2;
  if (place != 0)
    op.steps.push_back({Action::receive, member(place - lowest), kStep, buffer, bytes});
  for (std::uint64_t bit = lowest / 2; bit != 0; bit /= 2)
    if (place + bit < count)
      op.steps.push_back({Action::send, member(place + bit), kStep, buffer, bytes});
}

// Each member adds its own to what all before it have: team order, so the bits of one loop.
void PwcProvider::plan_chain(const ph_coll_team& team, Operation& op) {
  constexpr std::uint32_t kStep = 200;
  auto* const out = static_cast<std::byte*>(op.call->out);
  const std::uint64_t bytes = op.size_bytes;
  if (op.call->in != PH_IN_PLACE && op.size_bytes != 0)
    std::memmove(out, op.call->in, op.size_bytes);
  if (team.own > 0) {
    op.temp.resize(op.size_bytes);
    op.steps.push_back({Action::receive, team.own - 1, kStep, op.temp.data(), bytes});
    op.steps.push_back({Action::fold, team.own, kStep, op.temp.data(), bytes});
  }
  if (team.own + 1 < team.count)
    op.steps.push_back({Action::send, team.own + 1, kStep, out, bytes});
}
