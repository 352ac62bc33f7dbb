#include "task/queue/calls.hpp"

#include <photon/types.h>

#include <algorithm>

namespace photon::task {

void Calls::run_due(std::int64_t now_ns) noexcept {
  const Inside inside(*this);
  const std::uint64_t before = timers_.turn();
  while (const std::optional<Call> call = timers_.take_due(now_ns, before))
    call->function(pe_, call->user);
}

void Calls::raise(Condition condition) noexcept {
  const Inside inside(*this);
  conditions_.raise(condition, pe_);
}

bool Calls::begin_idle() noexcept {
  const Condition condition = is_idle_ ? Condition::still_idle : Condition::begin_idle;
  is_idle_ = true;
  if (!conditions_.has(condition)) return false;
  raise(condition);
  return true;
}

void Calls::end_idle() noexcept {
  is_idle_ = false;
  if (conditions_.has(Condition::end_idle)) raise(Condition::end_idle);
}

std::int64_t Calls::sleep_us(std::int64_t now_ns) const noexcept {
  if (polls()) return 0;
  const std::int64_t most_us = conditions_.has(Condition::still_idle) ? kStillIdleUs : PH_FOREVER;
  if (timers_.first_ns() == Timers::kNever) return most_us;
  const std::int64_t left_ns = std::max(timers_.first_ns() - now_ns, std::int64_t{0});
  const std::int64_t left_us = left_ns / 1000 + (left_ns % 1000 != 0 ? 1 : 0);
  return std::min({left_us, most_us, kLongestSleepUs});
}

}  // namespace photon::task
