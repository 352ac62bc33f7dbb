// How a rank goes to sleep without losing a wake-up, and how a sender finds out at the price of
// one plain load per message.
//
//   awake -- arm() --> armed -- look once more: nothing --> asleep (ppoll)
//     ^                  | found something                    | eventfd
//     +---- disarm() ----+-------------- disarm() ------------+
//
// Sender:  publish record [record], or credit; light_barrier; load cold; if cold: ring doorbell;
//          light_barrier; load asleep; if asleep: write the eventfd.
// Sleeper: store cold = 1 on hot rings; store asleep = 1; heavy_barrier; look at every ring; sleep.
// Argument: the heavy barrier splits every sender's program. A sender past its light barrier
// before it: its record is visible to the look. Otherwise its load comes after: it sees asleep = 1
// and wakes us. Source: the asymmetric Dekker of membarrier(2). Where membarrier is missing, the
// sleeper says so (needs_fence) and senders use a full fence instead.
// Owner: the sleeping rank writes; peers read.
#pragma once

#include <cstdint>

#include "sync/policy.hpp"

namespace photon::sync {

template <class Policy>
class SleepGate {
 public:
  // Sleeper. After arm() the caller must look at every source before it sleeps.
  void arm(bool fenced) noexcept {
    asleep_.store(1, std::memory_order_relaxed);
    if (fenced)
      Policy::full_fence();  // pairs with the sender's full fence [asleep]
    else
      Policy::heavy_barrier();  // pairs with the sender's light barrier [asleep]
  }
  void disarm() noexcept { asleep_.store(0, std::memory_order_relaxed); }

  // Sender, after its record or credit was stored: is a wake-up call due?
  bool must_wake(bool fenced) const noexcept {
    barrier(fenced);  // [asleep]
    return asleep_.load(std::memory_order_relaxed) != 0;
  }
  static void barrier(bool fenced) noexcept {
    if (fenced)
      Policy::full_fence();
    else
      Policy::light_barrier();
  }

 private:
  typename Policy::template Atomic<std::uint64_t> asleep_;
};

// A byte per sender: changed by the sender whenever it posts to a ring declared cold. Plain
// stores; the consumer compares with what it saw last, so nothing is ever cleared. A doorbell may
// be missed (256 rings between two looks, or a stale `cold`): cold rings are also scanned in turn.
template <class Policy>
class Doorbell {
 public:
  void ring(std::uint8_t value) noexcept { value_.store(value, std::memory_order_relaxed); }
  std::uint8_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  typename Policy::template Atomic<std::uint8_t> value_;
};

}  // namespace photon::sync
