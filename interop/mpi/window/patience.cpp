#include "interop/mpi/window/patience.hpp"

#include <sched.h>
#include <time.h>

namespace photon::mpi {

namespace {

constexpr std::uint32_t kSpins = 2000;
constexpr std::uint32_t kSpinsCrowded = 50;
constexpr std::uint32_t kSpinsPerTurn = 256;  // serving costs as much as some looks
constexpr std::int64_t kAwakeNs = 100'000;
constexpr long kSleepNs = 1'000'000;

std::int64_t now_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

}  // namespace

std::int64_t Patience::waited_ns() const noexcept { return now_ns() - since_ns_; }

bool Patience::pause(ph_rank whom, ph_rank through) noexcept {
  ++looks_;
  const std::uint32_t spins = job_.is_crowded() ? kSpinsCrowded : kSpins;
  if (looks_ < spins) {
    if (looks_ % kSpinsPerTurn == 0) job_.serve();
    Policy::relax();
    return true;
  }
  if (since_ns_ == 0) since_ns_ = now_ns();
  job_.serve();
  if (waited_ns() < kAwakeNs) {
    before_ = doorbell_.rings();
    ::sched_yield();
    return true;
  }
  if (!is_there(whom) || !is_there(through)) return false;
  ++sleeps_;
  doorbell_.sleep(before_, kSleepNs);
  before_ = doorbell_.rings();  // before the caller's next look
  return true;
}

bool Patience::is_there(ph_rank whom) noexcept {
  return whom == PH_ANY_RANK || whom == job_.rank() || !job_.has_ended(whom);
}

}  // namespace photon::mpi
