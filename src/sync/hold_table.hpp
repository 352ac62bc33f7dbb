// Which of a peer's regions one rank has mapped, where their owner can see it, so that memory which
// was freed meanwhile is given to nobody else before all have let go
// (docs/mapped-memory.md).
//
//   entry: free -- hold(slot), under the intent --> named -- let_go() --> free
//
// Mapper: Intent::enter(slot) -> look at the key once more -> hold() -> Intent::leave(); uses the
//         memory; let_go().
// Owner:  clears the key -> heavy_barrier -> waits until no intent names the slot -> names(slot)?
//         yes: the memory waits; no: it is free.
// Argument: a mapper whose enter() came before the barrier is waited for, and its leave() is a
// release that the owner has met: so the owner sees its hold(). One that came after sees the key
// cleared, and holds nothing. The [hold] pair orders the mapper's last use before the owner's
// reuse. Invariant: an entry from `used` on is free. Owner: one table per (mapper, owner) link,
// written by the mapper under its lane lock; in memory the region's owner can only read.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "sync/policy.hpp"

namespace photon::sync {

inline constexpr std::size_t kHoldEntries = 480;

template <class Policy, std::size_t Entries = kHoldEntries>
class HoldTable {
 public:
  static constexpr std::size_t kEntries = Entries;

  void hold(std::size_t entry, std::uint64_t slot) noexcept {
    if (used_.load(std::memory_order_relaxed) <= entry)
      used_.store(entry + 1, std::memory_order_release);         // [hold]
    entries_[entry].store(slot + 1, std::memory_order_release);  // [hold]
  }
  void let_go(std::size_t entry) noexcept {
    entries_[entry].store(0, std::memory_order_release);  // [hold]
  }

  bool names(std::uint64_t slot) const noexcept {
    bool is_named = false;
    for_each([&](std::uint64_t one) { is_named = is_named || one == slot; });
    return is_named;
  }
  // Calls `visit(slot)` for each that is held.
  template <class Visit>
  void for_each(Visit visit) const {
    const std::uint64_t used =
        std::min<std::uint64_t>(used_.load(std::memory_order_acquire), Entries);  // [hold]
    for (std::uint64_t i = 0; i < used; ++i) {
      const std::uint64_t word = entries_[i].load(std::memory_order_acquire);  // [hold]
      if (word != 0) visit(word - 1);
    }
  }

 private:
  typename Policy::template Atomic<std::uint64_t> used_;  // only grows
  std::array<typename Policy::template Atomic<std::uint64_t>, Entries> entries_;
};

}  // namespace photon::sync
