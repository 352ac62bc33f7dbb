// The gate in front of an engine: one lock, and the checks that every call makes.
//
//   running -- finalize --> closed          child of a fork: wiped (all words zero)
//
// The gate lies in a page that a fork wipes, so that a child falls off the lock's fast path and
// finds the missing mark; the check costs the parent nothing.
// Owner: the context handle, which outlives the engine.
#pragma once

#include <photon/types.h>

#include <cstdint>
#include <memory>

#include "base/result.hpp"
#include "sync/bias_lock.hpp"

namespace photon::engine {

class Lane {
 public:
  using Lock = sync::BiasLock<sync::HardwarePolicy>;
  using Held = Lock::Held;

  static base::Result<std::unique_ptr<Lane>> create(bool may_bias);
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  // Unique among the living threads; never 0 and a multiple of 16 (a thread's control block).
  static Lock::Token self() noexcept {
    return reinterpret_cast<Lock::Token>(__builtin_thread_pointer());
  }

  // Take the lock of a running lane. PH_ERR_FORKED, PH_ERR_STATE: not taken.
  ph_status enter(Held& held) noexcept {
    if (gate_->lock.try_biased(self(), held)) {
      if (gate_->open) [[likely]]
        return PH_OK;
      gate_->lock.unlock(held);
      return PH_ERR_STATE;
    }
    return enter_slow(held, true);
  }
  // Only if the lane is running and this thread has the bias; leave_biased() gives it back.
  bool try_enter(Held& held) noexcept {
    if (!gate_->lock.try_biased(self(), held)) [[unlikely]]
      return false;
    if (gate_->open) [[likely]]
      return true;
    gate_->lock.unlock_biased(held);
    return false;
  }
  void leave_biased(Held held) noexcept { gate_->lock.unlock_biased(held); }
  // The same for a lane that may be closed.
  ph_status enter_any(Held& held) noexcept {
    return gate_->lock.try_biased(self(), held) ? PH_OK : enter_slow(held, false);
  }
  void leave(Held held) noexcept { gate_->lock.unlock(held); }
  // No later enter() succeeds. Caller holds the lock.
  void close() noexcept { gate_->open = false; }
  bool closed() const noexcept { return !gate_->open; }  // caller holds the lock
  bool forked() const noexcept { return gate_->mark != kMark; }

 private:
  static constexpr std::uint64_t kMark = 0x70686f746f6e0001;

  struct Gate {
    explicit Gate(bool may_bias) : lock(may_bias, may_bias ? self() : 0) {}
    Lock lock;
    bool open = true;  // under the lock
    std::uint64_t mark = kMark;
  };

  explicit Lane(Gate* gate) noexcept : gate_(gate) {}
  ph_status enter_slow(Held& held, bool must_be_open) noexcept;

  Gate* gate_;
};

// Holds a lane for a scope. `closed_too`: also one that is being finalized.
class LaneGuard {
 public:
  explicit LaneGuard(Lane& lane, bool closed_too = false) noexcept
      : lane_(lane),
        closed_too_(closed_too),
        status_(closed_too ? lane.enter_any(held_) : lane.enter(held_)) {}
  ~LaneGuard() { release(); }
  LaneGuard(const LaneGuard&) = delete;
  LaneGuard& operator=(const LaneGuard&) = delete;

  ph_status status() const noexcept { return status_; }
  // Give the lane up for a while.
  void release() noexcept {
    if (status_ == PH_OK) lane_.leave(held_);
    status_ = PH_ERR_STATE;
  }
  // Take it again, also if it was closed meanwhile: the caller has books to settle, then asks
  // still_open().
  void retake() noexcept { status_ = lane_.enter_any(held_); }
  // Lets go of a lane that is not for us any more.
  bool still_open() noexcept {
    if (status_ == PH_OK && !closed_too_ && lane_.closed()) release();
    return status_ == PH_OK;
  }

 private:
  Lane& lane_;
  const bool closed_too_;
  Lane::Held held_{};
  ph_status status_;
};

}  // namespace photon::engine
