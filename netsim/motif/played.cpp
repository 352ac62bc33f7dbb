#include "netsim/motif/played.hpp"

#include <algorithm>
#include <numeric>

namespace photon::netsim {
namespace {

using Kind = Schedule::Kind;

// Ranks are below 2^20.
std::uint64_t key_of(std::uint32_t rank, std::uint32_t peer, std::uint16_t tag) {
  return std::uint64_t{rank} << 36 | std::uint64_t{peer} << 16 | tag;
}

}  // namespace

Played::Played(Schedule schedule)
    : schedule_(std::move(schedule)),
      nodes_(schedule_.operations.size()),
      first_after_(schedule_.operations.size() + 1),
      after_(schedule_.edges.size()),
      first_of_(schedule_.ranks + 1),
      of_rank_(schedule_.operations.size()),
      states_(schedule_.ranks) {
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    const Schedule::Operation& one = schedule_.operations[i];
    nodes_[i].waits = one.waits;
    ++states_[one.rank].left;
    ++first_of_[one.rank + 1];
    if (one.kind == Kind::compute) continue;
    auto& table = channel_at_[one.kind == Kind::send ? 1 : 0];
    const auto next = static_cast<std::uint32_t>(channels_.size());
    const auto [found, is_new] = table.emplace(key_of(one.rank, one.peer, one.tag), next);
    if (is_new) channels_.emplace_back();
    nodes_[i].channel = found->second;
  }
  for (const Schedule::Edge& edge : schedule_.edges) ++first_after_[edge.before + 1];
  std::partial_sum(first_after_.begin(), first_after_.end(), first_after_.begin());
  std::partial_sum(first_of_.begin(), first_of_.end(), first_of_.begin());
  std::vector<std::uint32_t> next = first_after_;
  for (const Schedule::Edge& edge : schedule_.edges) after_[next[edge.before]++] = edge.after;
  next = first_of_;
  for (std::uint32_t i = 0; i < nodes_.size(); ++i)
    of_rank_[next[schedule_.operations[i].rank]++] = i;
  schedule_.edges = {};
}

std::uint32_t Played::most_bytes() const {
  std::uint32_t most = 0;
  for (const auto& one : schedule_.operations) most = std::max(most, one.bytes);
  return most;
}

void Played::start(std::uint32_t rank, Ranks& ranks) {
  if (states_[rank].left == 0) return ranks.finish(rank);
  for (std::uint32_t i = first_of_[rank]; i < first_of_[rank + 1]; ++i) {
    const std::uint32_t operation = of_rank_[i];
    // Receives that begin and end here may make others ready, which end() then begins itself.
    if (schedule_.operations[operation].waits == 0) begin(operation, ranks);
  }
}

void Played::on_message(std::uint32_t rank, std::uint32_t peer, std::uint16_t tag, Ranks& ranks) {
  Channel& its = channels_[channel_at_[0].find(key_of(rank, peer, tag))->second];
  if (its.begun.is_empty()) {
    ++its.come;
    return;
  }
  const std::uint32_t operation = take_first(nodes_, its.begun);
  ranks.release(rank, peer);
  end(operation, ranks);
}

void Played::on_sent(std::uint32_t rank, std::uint32_t peer, std::uint16_t tag, Ranks& ranks) {
  Channel& its = channels_[channel_at_[1].find(key_of(rank, peer, tag))->second];
  end(take_first(nodes_, its.begun), ranks);
}

void Played::on_computed(std::uint32_t rank, Ranks& ranks) {
  end(take_first(nodes_, states_[rank].computing), ranks);
}

void Played::begin(std::uint32_t operation, Ranks& ranks) {
  const Schedule::Operation& one = schedule_.operations[operation];
  if (one.kind == Kind::compute) {
    append(nodes_, states_[one.rank].computing, operation);
    return ranks.compute(one.rank, one.duration);
  }
  Channel& its = channels_[nodes_[operation].channel];
  if (one.kind == Kind::send) {
    append(nodes_, its.begun, operation);
    return ranks.send(one.rank, {one.peer, one.bytes, one.tag, true});
  }
  if (its.come == 0) return append(nodes_, its.begun, operation);
  --its.come;
  ranks.release(one.rank, one.peer);
  end(operation, ranks);
}

// The operation is over, and those that only waited for it begin. A receive whose message was kept
// is over as soon as it begins; such ones are put on a list, because a chain of them may be long.
void Played::end(std::uint32_t operation, Ranks& ranks) {
  const std::uint32_t rank = schedule_.operations[operation].rank;
  State& its = states_[rank];
  append(nodes_, its.ending, operation);
  if (its.is_ending) return;
  its.is_ending = true;
  while (!its.ending.is_empty()) {
    const std::uint32_t over = take_first(nodes_, its.ending);
    for (std::uint32_t i = first_after_[over]; i < first_after_[over + 1]; ++i) {
      if (--nodes_[after_[i]].waits == 0) begin(after_[i], ranks);
    }
    --its.left;
  }
  its.is_ending = false;
  if (its.left == 0) ranks.finish(rank);
}

}  // namespace photon::netsim
