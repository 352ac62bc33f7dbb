#include "service/mailbox/lingers.hpp"

#include <photon/mailbox.h>

#include <algorithm>

namespace photon::service::mailbox {

void Lingers::add(std::uint32_t box, std::uint64_t linger_us) {
  constexpr std::int64_t kNsPerUs = 1000;
  constexpr std::uint64_t kMostUs = INT64_MAX / kNsPerUs;
  const std::int64_t ns = static_cast<std::int64_t>(std::min(linger_us, kMostUs)) * kNsPerUs;
  const auto made = by_time_.emplace(INT64_MAX, box).first;
  try {
    boxes_[box] = {.linger_ns = ns};
  } catch (...) {
    by_time_.erase(made);
    throw;
  }
}

void Lingers::remove(std::uint32_t box) noexcept {
  const auto found = boxes_.find(box);
  if (found == boxes_.end()) return;
  by_time_.erase({found->second.due_ns, box});
  boxes_.erase(found);
}

void Lingers::move(std::uint32_t box, State& state, std::int64_t due_ns) noexcept {
  auto node = by_time_.extract({state.due_ns, box});
  state.due_ns = due_ns;
  node.value().first = due_ns;
  by_time_.insert(std::move(node));
}

bool Lingers::lingers(std::uint32_t box, std::uint64_t epoch) const noexcept {
  const auto found = boxes_.find(box);
  return found != boxes_.end() && found->second.due_ns != INT64_MAX && found->second.epoch == epoch;
}

void Lingers::began(std::uint32_t box, std::uint64_t epoch, std::int64_t now_ns) noexcept {
  State& state = boxes_.find(box)->second;
  state.epoch = epoch;
  const bool is_for_ever = state.linger_ns > INT64_MAX - 1 - now_ns;
  move(box, state, is_for_ever ? INT64_MAX - 1 : now_ns + state.linger_ns);
}

std::uint64_t Lingers::epoch_of(std::uint32_t box) const noexcept {
  const auto found = boxes_.find(box);
  return found == boxes_.end() ? PH_ANY_EPOCH : found->second.epoch;
}

void Lingers::stop(std::uint32_t box) noexcept {
  const auto found = boxes_.find(box);
  if (found != boxes_.end()) move(box, found->second, INT64_MAX);
}

std::optional<std::uint32_t> Lingers::next_due(std::int64_t now_ns) noexcept {
  if (next_ns() > now_ns || next_ns() == INT64_MAX) return std::nullopt;
  const std::uint32_t box = by_time_.begin()->second;
  stop(box);
  return box;
}

}  // namespace photon::service::mailbox
