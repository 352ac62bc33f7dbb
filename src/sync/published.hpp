// A pointer that one thread sets and any thread follows: who sees it sees what was done to the
// object before it was set. What it points to outlives every reader; the holder sees to that.
//
//   null -- set(object) --> object -- set(null) --> null -- ...
//
// Owner: whoever holds it.
#pragma once

#include "sync/policy.hpp"

namespace photon::sync {

template <class Policy, class T>
class Published {
 public:
  constexpr Published() noexcept = default;
  void set(T* object) noexcept { object_.store(object, std::memory_order_release); }  // [published]
  T* get() const noexcept { return object_.load(std::memory_order_acquire); }         // [published]

 private:
  typename Policy::template Atomic<T*> object_;
};

}  // namespace photon::sync
