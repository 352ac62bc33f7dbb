// Wakes processes that sleep a short while at a time, by a futex in memory that they share.
//
//   Sleeper: before = rings(); look once more at what it waits for; sleep(before).
//   Ringer:  change what they wait for; ring(). Nobody sleeps: that is one load.
//   Watcher: watch(); look once more; be called by a ringer in some other way; unwatch().
//
// There is no fence between the sleeper's count and its look, so a ring may miss one who is about
// to sleep. That one wakes by its time limit, which is why sleep() has no other form: nothing may
// depend on a ring. The words order nothing.
// Owner: whoever holds the memory; any thread of any process that has it mapped.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>
#include <cstdint>

#include "sync/policy.hpp"

namespace photon::sync {

template <class Policy>
class alignas(64) SharedDoorbell {
 public:
  std::uint32_t rings() const noexcept { return rings_.load(std::memory_order_relaxed); }

  // True: somebody watches, whom the caller has to call.
  bool ring() noexcept {
    const std::uint32_t waiting = sleepers_.load(std::memory_order_relaxed);
    if (waiting == 0) [[likely]]
      return false;
    if (waiting % kWatcher != 0) {
      rings_.fetch_add(1, std::memory_order_relaxed);
      ::syscall(SYS_futex, &rings_, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
    }
    return waiting >= kWatcher;
  }

  // For one who waits elsewhere than at the futex, and looks again after a while like a sleeper.
  void watch() noexcept { sleepers_.fetch_add(kWatcher, std::memory_order_relaxed); }
  void unwatch() noexcept { sleepers_.fetch_add(~kWatcher + 1, std::memory_order_relaxed); }

  // Until a ring after `before`, a signal, or the end of that time. At most 999,999,999 ns.
  void sleep(std::uint32_t before, long at_most_ns) noexcept {
    sleepers_.fetch_add(1, std::memory_order_relaxed);
    const timespec time{0, at_most_ns};
    ::syscall(SYS_futex, &rings_, FUTEX_WAIT, before, &time, nullptr, 0);
    sleepers_.fetch_add(~std::uint32_t{0}, std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint32_t kWatcher = 1U << 20;  // so many sleepers are never counted

  typename Policy::template Atomic<std::uint32_t> rings_;
  // A sleeper that is killed stays counted: then each ring costs a system call.
  typename Policy::template Atomic<std::uint32_t> sleepers_;
};
static_assert(sizeof(HardwarePolicy::Atomic<std::uint32_t>) == sizeof(std::uint32_t));

}  // namespace photon::sync
