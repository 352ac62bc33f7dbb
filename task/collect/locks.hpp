// Locks of the PEs of a process.
//
//   free -- acquire(), try_acquire() --> held by a PE -- release() by that PE --> free
//        -- destroy(), and nobody waits for it --> gone
//
// Invariant: a lock has at most one holder, and only the holder gives it back. Who waits is counted
// until it has the lock, so a lock that is destroyed has nobody who waits. Who calls acquire()
// meanwhile or later breaks the rules.
// Owner: the process, until its end. Threads: all of its PEs.
#pragma once

#include <photon/types.h>

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace photon::task {

class Lock {
 public:
  // PH_ERR_STATE: the caller has it.
  ph_status acquire(std::uint32_t rank) noexcept;
  ph_status try_acquire(std::uint32_t rank) noexcept;  // PH_AGAIN: another PE has it
  ph_status release(std::uint32_t rank) noexcept;      // PH_ERR_STATE: the caller does not have it
  bool is_unused() noexcept;                           // nobody has it or waits for it
  std::uint32_t waiters() noexcept;

 private:
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};

  std::mutex mutex_;
  std::condition_variable freed_;
  std::uint32_t holder_ = kNobody;
  std::uint32_t waiters_ = 0;
};

// All of a process.
class Locks {
 public:
  Lock* create();  // throws bad_alloc
  // PH_ERR_STATE: a PE has it, or waits for it; PH_ERR_ARGUMENT: there is none of that address.
  ph_status destroy(const Lock* lock) noexcept;

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Lock>> all_;
};

}  // namespace photon::task
