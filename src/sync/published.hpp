// A pointer that one thread sets and any thread follows: who sees it sees what was done to the
// object before it was set. What it points to outlives every reader; the holder sees to that.
//
//   null -- set(object) --> object -- set(null) --> null -- ...
//
// Owner: whoever holds it.
#pragma once

#include <atomic>

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

// The same in memory that is the user's, who may wait there: `value`, and then `flag`. Whoever
// reads the flag with acquire, and finds what is written here, sees the value and all that came
// before.
template <class Value, class Flag>
void publish_to_user(Value& value, Value new_value, Flag*& flag, Flag* new_flag) noexcept {
  std::atomic_ref<Value>(value).store(new_value, std::memory_order_relaxed);
  std::atomic_ref<Flag*>(flag).store(new_flag, std::memory_order_release);  // [published]
}

// What stands there: not null says that the value and all that came before are seen.
template <class Flag>
Flag* follow_to_user(Flag*& flag) noexcept {
  return std::atomic_ref<Flag*>(flag).load(std::memory_order_acquire);  // [published]
}

}  // namespace photon::sync
