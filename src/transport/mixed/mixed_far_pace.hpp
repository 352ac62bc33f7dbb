// When to look at the far transport, where each look is a system call, and how often to be polled.
//
//   idle -- its news, or something of ours for it --> active -- kActiveNs without any --> idle
//
//   active: polled at every empty probe; after a look it rests for as long as that took, but for
//           kRestNs at least and kIdleNs at most, so that the near side has half of the time
//   idle:   it is looked at every kIdleNs, by the clock; polled at every kMostInterval-th empty
//           probe, shm's least, and at each after two polls that lie kSeldomNs apart
//
// What is asked for is due at the next poll, whatever the clock says: what ends a sleep, and the
// look between arm() and sleep().
// Owner: MixedTransport, under the engine's lane lock. Time is given, so that tests have their own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace photon::transport::mixed {

class FarPace {
 public:
  static constexpr unsigned kMostInterval = 32;
  static constexpr std::int64_t kActiveNs = 1'000'000;
  static constexpr std::int64_t kRestNs = 500;
  static constexpr std::int64_t kIdleNs = 20'000;
  static constexpr std::int64_t kSeldomNs = 250'000;

  // A poll begins: whether to look.
  bool poll(std::int64_t now_ns) noexcept {
    if (is_used_) {
      is_used_ = false;
      active_until_ns_ = now_ns + kActiveNs;
    }
    const std::int64_t since_ns = now_ns - std::exchange(polled_ns_, now_ns);
    if (since_ns > kSeldomNs)
      interval_ = 1;
    else if (since_ns < kSeldomNs / 2)
      interval_ = std::min(2 * interval_, kMostInterval);
    const bool is_asked = std::exchange(is_asked_, false);
    const std::int64_t rest_ns = now_ns < active_until_ns_ ? rest_ns_ : kIdleNs;
    return is_asked || now_ns - looked_ns_ >= rest_ns;
  }
  // The look that poll() asked for is over, and brought something or nothing.
  void looked(std::int64_t now_ns, bool had_news) noexcept {
    looked_ns_ = now_ns;
    rest_ns_ = std::clamp(now_ns - polled_ns_, kRestNs, kIdleNs);
    is_active_ = had_news || is_used_ || now_ns < active_until_ns_;
    if (had_news) active_until_ns_ = now_ns + kActiveNs;
  }
  // Something of ours is on its way to a rank of that side.
  void use() noexcept { is_used_ = is_active_ = true; }
  void ask() noexcept { is_asked_ = true; }

  unsigned interval() const noexcept { return is_active_ ? 1 : interval_; }

 private:
  bool is_active_ = false;
  bool is_used_ = false;
  bool is_asked_ = true;
  unsigned interval_ = kMostInterval;
  std::int64_t rest_ns_ = kRestNs;
  std::int64_t active_until_ns_ = 0;
  std::int64_t looked_ns_ = 0;
  std::int64_t polled_ns_ = 0;
};

}  // namespace photon::transport::mixed
