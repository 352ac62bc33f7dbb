// A clock that stands still until the test moves it.
//
//   GivenTime time;
//   open_tcp(config, boot, {.time = time.source()});
//   time.move_ns(1'000'000'000);
//
// A timer that is due is readable when the call that made it due returns.
// Owner: the test; it outlives all that was given its source. Threads: any.
#pragma once

#include <poll.h>
#include <sys/timerfd.h>

#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>

#include "base/time_source.hpp"

namespace photon::test {

class GivenTime final : private base::TimeSource::Given {
 public:
  // By so much whoever pauses moves the clock.
  static constexpr std::int64_t kPauseNs = 100'000;

  base::TimeSource source() noexcept { return base::TimeSource(*this); }
  std::int64_t now_ns() noexcept override {
    const std::scoped_lock lock(mutex_);
    return now_ns_;
  }
  void move_ns(std::int64_t ns) noexcept {
    const std::scoped_lock lock(mutex_);
    now_ns_ += ns;
    for (auto timer = timers_.begin(); timer != timers_.end();)
      timer = timer->second <= now_ns_ ? ring(timer) : std::next(timer);
  }
  // When the first timer is due; 0: there is none.
  std::int64_t next_ns() noexcept {
    const std::scoped_lock lock(mutex_);
    std::int64_t first_ns = 0;
    for (const auto& [timer, at_ns] : timers_)
      if (first_ns == 0 || at_ns < first_ns) first_ns = at_ns;
    return first_ns;
  }

 private:
  using Timers = std::map<int, std::int64_t>;
  static constexpr int kRingMs = 1'000;

  void ring_at(int timer, std::int64_t at_ns) noexcept override {
    const std::scoped_lock lock(mutex_);
    const itimerspec never{};
    static_cast<void>(::timerfd_settime(timer, 0, &never, nullptr));
    timers_.erase(timer);
    if (at_ns == 0) return;
    const auto set = timers_.emplace(timer, at_ns).first;
    if (at_ns <= now_ns_) ring(set);
  }
  void pause() noexcept override { move_ns(kPauseNs); }
  Timers::iterator ring(Timers::iterator timer) noexcept {
    const itimerspec at_once{.it_interval = {}, .it_value = {0, 1}};
    static_cast<void>(::timerfd_settime(timer->first, 0, &at_once, nullptr));
    pollfd entry{.fd = timer->first, .events = POLLIN, .revents = 0};
    static_cast<void>(::poll(&entry, 1, kRingMs));  // not for ever: another thread may read it
    return timers_.erase(timer);
  }

  std::mutex mutex_;  // of all below
  // Longer than anybody waits after the beginning, as on a machine that has run for a while.
  std::int64_t now_ns_ = 1'000'000'000'000;
  Timers timers_;  // that are set
};

}  // namespace photon::test
