#include "base/time_source.hpp"

#include <sys/timerfd.h>

namespace photon::base {

void TimeSource::ring_at(int timer, std::int64_t at_ns) const noexcept {
  if (given_ != nullptr) return given_->ring_at(timer, at_ns);
  constexpr std::int64_t kSecond = 1'000'000'000;
  const itimerspec when{.it_interval = {}, .it_value = {at_ns / kSecond, at_ns % kSecond}};
  static_cast<void>(::timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, nullptr));
}

}  // namespace photon::base
