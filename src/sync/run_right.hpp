// The right to run the user's code of one service: of all threads of a lane one has it at a time,
// and what becomes due meanwhile is not forgotten.
//
//   free -- try_take() --> running -- finish() --> free
//                          running -- try_take() of another --> more
//                          more -- finish(): false, look again --> running
//
// try_take() is called under the lane's lock, behind the note of what is due; finish() without it,
// by the thread that has the right. It then takes the lock again if finish() says so. Argument: the
// two change one word by read-modify-write operations, so one of them comes first: either finish()
// sees `more`, or try_take() finds the word free and its caller runs. [run-right] orders what one
// runner did to the service's private state before what the next one does.
// Owner: a Services, for each of its services.
#pragma once

#include <cstdint>

#include "sync/policy.hpp"

namespace photon::sync {

template <class Policy>
class RunRight {
 public:
  // False: another thread has it, and will look again.
  bool try_take() noexcept {
    std::uint64_t is = kFree;
    while (!state_.compare_exchange(is, is == kFree ? kRunning : kMore,
                                    std::memory_order_acquire,  // [run-right]
                                    std::memory_order_relaxed)) {
    }
    return is == kFree;
  }
  // False: more has become due, and the caller still has the right.
  bool finish() noexcept {
    std::uint64_t is = kRunning;
    if (state_.compare_exchange(is, kFree, std::memory_order_release,  // [run-right]
                                std::memory_order_relaxed))
      return true;
    state_.store(kRunning, std::memory_order_relaxed);
    return false;
  }
  bool is_free() const noexcept {
    return state_.load(std::memory_order_acquire) == kFree;  // [run-right]
  }

 private:
  static constexpr std::uint64_t kFree = 0;
  static constexpr std::uint64_t kRunning = 1;
  static constexpr std::uint64_t kMore = 2;

  typename Policy::template Atomic<std::uint64_t> state_;
};

}  // namespace photon::sync
