// How long the progress thread yields before it sleeps, where the user's code runs in it and it has
// no core of its own. To be woken costs it and whoever wakes it some microseconds. So where what
// comes is closer together than that, it gives its core away between its looks instead, for a short
// while, and sleeps if nothing comes:
//
//   sleeps at once -- a sleep was shorter than kMost --> yields, for kMost from the last news on
//         ^                                                    |
//         +----------------- a sleep was longer ---------------+
//
// Owner: the ProgressThread, one thread.
#pragma once

#include <chrono>

namespace photon::engine {

class YieldTime {
 public:
  using Time = std::chrono::steady_clock::time_point;

  static constexpr std::chrono::microseconds kMost{20};

  void slept(std::chrono::nanoseconds time) noexcept { is_dense_ = time < kMost; }
  void moved(Time now) noexcept { until_ = now + kMost; }
  bool lasts(Time now) const noexcept { return is_dense_ && now < until_; }

 private:
  bool is_dense_ = false;
  Time until_ = Time::min();
};

}  // namespace photon::engine
