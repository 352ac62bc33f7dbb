// Who is copying into or out of a region right now, so that its owner can take it back safely.
//
// Initiator: enter(slot) -> look at the key and at `met` once more -> copy -> leave().
// Owner:     clear the key -> heavy_barrier -> wait until no peer's word names the slot; or, to end
//            all copies over one link: hide() -> heavy_barrier -> wait until its word names none.
// Argument: an initiator whose enter() came before the barrier is seen and waited for; one that
// came after sees the key cleared, or the link hidden, and does not copy. The [intent] pair also
// orders the copy before the owner's reuse of the memory. Owner: one word per (initiator, owner)
// link, written by the initiator under its lane lock, hence at most one copy at a time; in memory
// the region's owner can only read.
#pragma once

#include <cstdint>

#include "sync/policy.hpp"
#include "sync/sleep_gate.hpp"

namespace photon::sync {

template <class Policy>
class Intent {
 public:
  void enter(std::uint64_t slot, bool fenced) noexcept {
    // Release: an owner that reads this instead of the leave() before it must still see that copy
    // ended. [intent]
    word_.store(slot + 1, std::memory_order_release);
    SleepGate<Policy>::barrier(fenced);  // pairs with the owner's heavy barrier
  }
  void leave() noexcept { word_.store(0, std::memory_order_release); }  // [intent]

  bool names(std::uint64_t slot) const noexcept {
    return word_.load(std::memory_order_acquire) == slot + 1;  // [intent]
  }
  bool names_any() const noexcept {
    return word_.load(std::memory_order_acquire) != 0;
  }  // [intent]

 private:
  typename Policy::template Atomic<std::uint64_t> word_;
};

}  // namespace photon::sync
