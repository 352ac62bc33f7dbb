// A word that threads or processes set and read when they like. It orders nothing: who reads it
// late or reads an old value loses time only.
// Owner: whoever holds it; any thread.
#pragma once

#include <cstdint>

#include "sync/policy.hpp"

namespace photon::sync {

template <class Policy, class T>
class Hint {
 public:
  T get() const noexcept { return value_.load(std::memory_order_relaxed); }
  void set(T value) noexcept { value_.store(value, std::memory_order_relaxed); }

 private:
  typename Policy::template Atomic<T> value_;
};

// A number that its holder counts up and down, and that any thread may read, as a Hint: to tell
// whether the holder still counts.
template <class Policy>
class Ticks {
 public:
  // The holder.
  operator std::uint64_t() const noexcept { return count_; }
  void operator++() noexcept { shown_.set(++count_); }
  void operator--() noexcept { shown_.set(--count_); }
  // Anybody.
  std::uint64_t shown() const noexcept { return shown_.get(); }

 private:
  std::uint64_t count_ = 0;  // apart from what is shown, so that it stays in a register
  Hint<Policy, std::uint64_t> shown_;
};

}  // namespace photon::sync
