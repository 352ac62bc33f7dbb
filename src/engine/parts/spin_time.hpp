// How long a wait spins before it sleeps, where a core is free. To sleep and be woken costs the
// sleeper and its waker microseconds; to spin costs nothing but the core. So a wait spins for about
// what the sleep would cost, and longer where it was seen that the sleep soon ended:
//
//   a wait that slept ended within 8 x spin_us    spin a quarter longer than it lasted
//   it lasted longer                              half as long as now, spin_us at least
//   a wait ended while spinning                   no change
//
// What is spun in vain is so at most 14 x spin_us for each change from short waits to long ones.
// (The choice between spinning for the price of a switch and sleeping at once is Ousterhout's
// two-phase waiting; Karlin et al. 1991 adapt the time as we do.)
//
// Owner: an Engine, under the lane's lock.
#pragma once

#include <algorithm>
#include <cstdint>

namespace photon::engine {

class SpinTime {
 public:
  static constexpr std::int64_t kMost = 8;  // x spin_us

  explicit SpinTime(std::uint64_t spin_us = 0) noexcept
      : least_ns_(static_cast<std::int64_t>(spin_us) * 1000), ns_(least_ns_) {}

  std::int64_t ns() const noexcept { return ns_; }

  // A wait of so many nanoseconds in all has ended, and had slept.
  void slept(std::int64_t waited_ns) noexcept {
    if (waited_ns <= kMost * least_ns_)
      ns_ = std::clamp(waited_ns + waited_ns / 4, ns_, kMost * least_ns_);
    else
      ns_ = std::max(ns_ / 2, least_ns_);
  }

 private:
  std::int64_t least_ns_;
  std::int64_t ns_;
};

}  // namespace photon::engine
