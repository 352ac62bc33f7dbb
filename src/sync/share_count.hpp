// How many hold a thing that the last one gives back; a single holder needs no locked instruction.
//
//   unused -- start(n) --> held by n -- add(), drop() --> held by n +- 1 -- drop() by the last -->
//   0
//
// Argument: only a holder adds or drops. So who finds that it is the only one is it until it does
// something itself. What the others did to the thing came before their drops, which release
// [last-reference]; the last one acquires them, by its look or by its own drop. [last-reference]
// A count that somebody holds comes to another thread with the thing itself, by whatever orders
// that hand-over.
// Owner: the holders together. Any thread.
#pragma once

#include <cstdint>

#include "sync/policy.hpp"

namespace photon::sync {

enum class Drop : std::uint8_t { kept, last, unheld };

template <class Policy>
class ShareCount {
 public:
  // Before anybody else can see the thing.
  void start(std::uint32_t holders) noexcept { count_.store(holders, std::memory_order_relaxed); }
  // By a holder, for one more.
  void add() noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  // By a holder, who holds it no more. unheld: nobody holds it, which is the caller's mistake.
  Drop drop() noexcept {
    const std::uint32_t holders = count_.load(std::memory_order_acquire);  // [last-reference]
    if (holders == 0) return Drop::unheld;
    if (holders == 1) {
      count_.store(0, std::memory_order_relaxed);
      return Drop::last;
    }
    const std::uint32_t before =
        count_.fetch_add(~std::uint32_t{0}, std::memory_order_acq_rel);  // [last-reference]
    return before == 1 ? Drop::last : Drop::kept;
  }
  // By a holder: whether it is the only one. The thing is its own then.
  bool is_single() const noexcept {
    return count_.load(std::memory_order_acquire) == 1;  // [last-reference]
  }

 private:
  typename Policy::template Atomic<std::uint32_t> count_;
};

}  // namespace photon::sync
