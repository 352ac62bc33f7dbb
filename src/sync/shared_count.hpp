// Numbers that processes or threads show each other.
//
// SharedCount is counted up by one writer at a time; what was done before count_to() is seen by who
// has found that number by get(). [shared-count]
// Tally is counted up and down by any thread; it orders nothing.
// Owner: whoever holds it. Threads: as above.
#pragma once

#include <cstdint>

#include "sync/policy.hpp"

namespace photon::sync {

template <class Policy>
class alignas(64) SharedCount {
 public:
  std::uint64_t get() const noexcept {
    return value_.load(std::memory_order_acquire);  // [shared-count]
  }
  void count_to(std::uint64_t value) noexcept {
    value_.store(value, std::memory_order_release);  // [shared-count]
  }

 private:
  typename Policy::template Atomic<std::uint64_t> value_;
};

template <class Policy>
class Tally {
 public:
  std::uint32_t get() const noexcept { return value_.load(std::memory_order_relaxed); }
  void add() noexcept { value_.fetch_add(1, std::memory_order_relaxed); }
  void drop() noexcept { value_.fetch_add(~std::uint32_t{0}, std::memory_order_relaxed); }
  // A thread beside which no other counts needs no locked instruction.
  void add_alone() noexcept { value_.store(get() + 1, std::memory_order_relaxed); }
  void drop_alone() noexcept { value_.store(get() - 1, std::memory_order_relaxed); }

 private:
  typename Policy::template Atomic<std::uint32_t> value_;
};

}  // namespace photon::sync
