// How any thread ends the sleep of a lane's waiters, or the next one, at the price of one locked
// store while nobody sleeps.
//
//   not set -- set() --> set -- take(): whoever waits next --> not set
//
// Waker:   exchange word = 1 [wake]; full_fence; load asleep; if it is set: wake the sleepers.
// Sleeper: store asleep = 1; full_fence [asleep]; look at the word; sleep.
// Argument: Dekker's pattern with a fence on both sides. If the sleeper's fence comes first, the
// waker sees asleep and wakes; else the sleeper's look sees the word. (No membarrier: to wake is no
// fast path.) set() exchanges, so that several of them before one take() form one release sequence:
// what each waker did before happens before whatever the taker does. [wake]
// Owner: the Lane, which outlives its engine. Threads: set() any; all else under the lane's lock.
#pragma once

#include <cstdint>

#include "sync/policy.hpp"

namespace photon::sync {

template <class Policy>
class WakeWord {
 public:
  // True: somebody may sleep, and the caller has to wake him.
  bool set() noexcept {
    static_cast<void>(word_.exchange(1, std::memory_order_acq_rel));  // [wake]
    Policy::full_fence();                                             // [asleep]
    return asleep_.load(std::memory_order_relaxed) != 0;
  }

  // After arm() the caller looks at is_set() before it sleeps.
  void arm() noexcept {
    asleep_.store(1, std::memory_order_relaxed);
    Policy::full_fence();  // pairs with the waker's [asleep]
  }
  void disarm() noexcept {
    if (!is_closed_) asleep_.store(0, std::memory_order_relaxed);
  }
  bool is_set() const noexcept { return word_.load(std::memory_order_relaxed) != 0; }
  bool take() noexcept {
    return is_set() && word_.exchange(0, std::memory_order_acq_rel) != 0;  // [wake]
  }
  // From here on every set() says that somebody may sleep, and its caller finds the lane closed.
  void close() noexcept {
    is_closed_ = true;
    asleep_.store(1, std::memory_order_relaxed);
  }

 private:
  typename Policy::template Atomic<std::uint64_t> word_;
  typename Policy::template Atomic<std::uint64_t> asleep_;
  bool is_closed_ = false;  // under the lane's lock
};

}  // namespace photon::sync
