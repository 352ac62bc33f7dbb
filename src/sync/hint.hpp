// A word that threads or processes set and read when they like. It orders nothing: who reads it
// late or reads an old value loses time only.
// Owner: whoever holds it; any thread.
#pragma once

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

}  // namespace photon::sync
