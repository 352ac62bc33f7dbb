// How many hold a thing that the last one takes down.
//
//   start() -> n holders -- release() by the last --> 0: try_acquire() fails for ever
//
// Invariant: only a holder touches the thing; who finds 0 leaves it alone.
// Owner: lies in the thing itself, hence zero bytes are a valid (never started) count.
#pragma once

#include <cstdint>

#include "sync/policy.hpp"

namespace photon::sync {

template <class Policy>
class RefCount {
 public:
  void start() noexcept { count_.store(1, std::memory_order_release); }  // [held]

  bool try_acquire() noexcept {
    std::uint64_t count = count_.load(std::memory_order_relaxed);
    while (count != 0) {
      if (count_.compare_exchange(count, count + 1, std::memory_order_acquire,  // [held]
                                  std::memory_order_relaxed))
        return true;
    }
    return false;
  }

  // True for the last holder, who sees what all others did before they let go. [held]
  bool release() noexcept {
    return count_.fetch_add(~std::uint64_t{0}, std::memory_order_acq_rel) == 1;
  }

 private:
  typename Policy::template Atomic<std::uint64_t> count_;
};

}  // namespace photon::sync
