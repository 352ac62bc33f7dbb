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
  // The same, for once: the thread that the lane belongs to keeps its bias.
  ph_status visit(Held& held) noexcept {
    if (forked()) return PH_ERR_FORKED;
    held = gate_->lock.lock_visiting(self());
    return PH_OK;
  }
  // The same, unless somebody is inside: PH_AGAIN.
  ph_status try_visit(Held& held) noexcept {
    if (forked()) return PH_ERR_FORKED;
    return gate_->lock.try_visiting(self(), 1, held) ? PH_OK : PH_AGAIN;
  }
  // The same, but it waits for whoever is inside, asleep if that takes long.
  ph_status visit_patiently(Held& held) noexcept;
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

// Holds a lane for a scope.
class LaneGuard {
 public:
  enum class Kind : std::uint8_t {
    running,     // or refused
    closed_too,  // also one that is being finalized, or is over
    visit,       // the same, by a thread whose lane it is not
    stand_in,    // the same, or PH_AGAIN: somebody is inside
  };
  explicit LaneGuard(Lane& lane, Kind kind = Kind::running) noexcept
      : lane_(lane), kind_(kind), status_(enter()) {}
  ~LaneGuard() { release(); }
  LaneGuard(const LaneGuard&) = delete;
  LaneGuard& operator=(const LaneGuard&) = delete;

  ph_status status() const noexcept { return status_; }
  // By its owner, whom everybody else finds before long (sync/bias_lock.hpp).
  bool is_biased() const noexcept { return Lane::Lock::is_biased(held_); }
  // Give the lane up for a while.
  void release() noexcept {
    if (status_ == PH_OK) lane_.leave(held_);
    status_ = PH_ERR_STATE;
  }
  // Take it again, also if it was closed meanwhile: the caller has books to settle, then asks
  // still_open().
  void retake() noexcept {
    status_ = kind_ == Kind::stand_in ? lane_.visit_patiently(held_) : lane_.enter_any(held_);
  }
  // Lets go of a lane that is not for us any more.
  bool still_open() noexcept {
    if (status_ == PH_OK && kind_ == Kind::running && lane_.closed()) release();
    return status_ == PH_OK;
  }

 private:
  ph_status enter() noexcept {
    if (kind_ == Kind::visit) return lane_.visit(held_);
    if (kind_ == Kind::stand_in) return lane_.try_visit(held_);
    return kind_ == Kind::closed_too ? lane_.enter_any(held_) : lane_.enter(held_);
  }

  Lane& lane_;
  const Kind kind_;
  Lane::Held held_{};
  ph_status status_;
};

}  // namespace photon::engine
