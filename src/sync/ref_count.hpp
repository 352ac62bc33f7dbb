// How many hold a thing that the last one takes down, and where the thing is. Lies in the thing
// itself, so that who can see that memory at any address finds the one that the holders use.
//
//   zeroed -- start() --> held by 1..n -- release() by the last --> 0: try_acquire() fails for ever
//
// Invariant: only a holder touches the thing at its address; who finds 0 leaves it alone.
// Owner: the holders together. Any thread.
#pragma once

#include <cstdint>

#include "sync/policy.hpp"

namespace photon::sync {

template <class Policy>
class RefCount {
 public:
  // The first holder, before anybody else can see this.
  void start(std::uint64_t address) noexcept {
    address_.store(address, std::memory_order_relaxed);
    count_.store(1, std::memory_order_release);  // [held]
  }

  bool try_acquire() noexcept {
    std::uint64_t count = count_.load(std::memory_order_relaxed);
    while (count != 0) {
      if (count_.compare_exchange(count, count + 1, std::memory_order_acquire,  // [held]
                                  std::memory_order_relaxed))
        return true;
    }
    return false;
  }

  // True for the last holder, who sees what all others did before they let go.
  bool release() noexcept {
    return count_.fetch_add(~std::uint64_t{0}, std::memory_order_acq_rel) == 1;  // [held]
  }

  // Holders only.
  std::uint64_t address() const noexcept { return address_.load(std::memory_order_relaxed); }
  // For a holder that came here by another address: the edge from start() to its use of this one.
  void look() const noexcept {
    static_cast<void>(count_.load(std::memory_order_acquire));  // [held]
  }

 private:
  typename Policy::template Atomic<std::uint64_t> count_;
  typename Policy::template Atomic<std::uint64_t> address_;
};

}  // namespace photon::sync
