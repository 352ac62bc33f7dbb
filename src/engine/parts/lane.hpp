// The gate in front of an engine: one lock, and the checks that every call makes.
//
//   running -- finalize --> closed          child of a fork: wiped (all words zero)
//
// It lies in a page that a fork wipes, so that a child falls off the lock's fast path and finds the
// missing mark; the check costs the parent nothing. (Where the kernel refuses to wipe it, no thread
// is given the bias, and the longer way asks for the process.) Nor does the question whether it is
// closed: who closes it ends the bias, too. Owner: the context handle, which outlives the engine.
#pragma once

#include <photon/types.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>

#include "base/result.hpp"
#include "sync/bias_lock.hpp"
#include "sync/wake_word.hpp"

namespace photon::engine {

class Lane {
 public:
  using Lock = sync::BiasLock<sync::HardwarePolicy>;
  using Held = Lock::Held;
  using WakeWord = sync::WakeWord<sync::HardwarePolicy>;

  static base::Result<std::unique_ptr<Lane>> create(bool may_bias);
  ~Lane() = default;
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  static void operator delete(void* page) noexcept;

  // Unique among the living threads; never 0 and a multiple of 16 (a thread's control block).
  static Lock::Token self() noexcept {
    return reinterpret_cast<Lock::Token>(__builtin_thread_pointer());
  }

  // Take the lock of a running lane. PH_ERR_FORKED, PH_ERR_STATE: not taken.
  ph_status enter(Held& held) noexcept {
    if (!lock_.try_biased(self())) [[unlikely]]
      return enter_slow(held, true);
    held = Lock::kBiased;
    return PH_OK;
  }
  // Only if the lane is running and this thread has the bias; leave_biased() gives it back.
  [[gnu::always_inline]] bool try_enter() noexcept { return lock_.try_biased(self()); }
  void leave_biased() noexcept { lock_.unlock_biased(); }
  // The same for a lane that may be closed.
  ph_status enter_any(Held& held) noexcept {
    if (!lock_.try_biased(self())) return enter_slow(held, false);
    held = Lock::kBiased;
    return PH_OK;
  }
  // The same, for once: the thread that the lane belongs to keeps its bias.
  ph_status visit(Held& held) noexcept {
    if (forked()) return PH_ERR_FORKED;
    held = lock_.lock_visiting(self());
    return PH_OK;
  }
  // The same, unless somebody is inside: PH_AGAIN.
  ph_status try_visit(Held& held) noexcept {
    if (forked()) return PH_ERR_FORKED;
    return lock_.try_visiting(self(), held) ? PH_OK : PH_AGAIN;
  }
  // The same for a running lane; else PH_ERR_STATE.
  ph_status try_visit_open(Held& held) noexcept {
    const ph_status status = try_visit(held);
    if (status != PH_OK || open_) return status;
    leave(held);
    return PH_ERR_STATE;
  }
  // As visit(), but it waits for whoever is inside, asleep if that takes long.
  ph_status visit_patiently(Held& held) noexcept;
  void leave(Held held) noexcept { lock_.unlock(held); }
  // No later enter() succeeds. Caller visits, or has entered by the lock's word.
  void close() noexcept {
    open_ = false;
    wake_word_.close();
    lock_.end_bias();
  }
  bool closed() const noexcept { return !open_; }  // caller holds the lock
  bool forked() const noexcept { return mark_ != kMark || (owner_ != 0 && is_other_process()); }
  WakeWord& wake_word() noexcept { return wake_word_; }
  // False: the kernel does not wipe the page, so that every call takes the lock's longer way and
  // asks which process it is in.
  bool wiped_by_fork() const noexcept { return owner_ == 0; }

 private:
  static constexpr std::uint64_t kMark = 0x70686f746f6e0001;

  // owner: the process, where fork wipes nothing; else 0.
  Lane(bool may_bias, pid_t owner) noexcept
      : lock_(may_bias, may_bias ? self() : 0), owner_(owner) {}
  bool is_other_process() const noexcept;
  ph_status enter_slow(Held& held, bool must_be_open) noexcept;

  Lock lock_;
  bool open_ = true;  // under it
  std::uint64_t mark_ = kMark;
  pid_t owner_ = 0;
  WakeWord wake_word_;
};

// Holds a lane for a scope.
class LaneGuard {
 public:
  enum class Kind : std::uint8_t {
    running,     // or refused
    closed_too,  // also one that is being finalized, or is over
    visit,       // the same, by a thread whose lane it is not
    stand_in,    // the same, or PH_AGAIN: somebody is inside
    look_in,     // the same for a running lane
  };
  explicit LaneGuard(Lane& lane, Kind kind = Kind::running) noexcept
      : lane_(lane), kind_(kind), status_(enter()) {}
  ~LaneGuard() { release(); }
  LaneGuard(const LaneGuard&) = delete;
  LaneGuard& operator=(const LaneGuard&) = delete;

  ph_status status() const noexcept { return status_; }
  // By its owner, whom everybody else finds before long (sync/bias_lock.hpp).
  Lane::WakeWord& wake_word() const noexcept { return lane_.wake_word(); }
  bool is_biased() const noexcept { return Lane::Lock::is_biased(held_); }
  // Give the lane up for a while.
  [[gnu::always_inline]] void release() noexcept {
    if (status_ == PH_OK) {
      if (is_biased()) [[likely]]
        lane_.leave_biased();
      else
        lane_.leave(held_);
    }
    status_ = PH_ERR_STATE;
  }
  // Take it again, also if it was closed meanwhile: the caller has books to settle, then asks
  // still_open().
  void retake() noexcept {
    const bool visits = kind_ == Kind::stand_in || kind_ == Kind::look_in;
    status_ = visits ? lane_.visit_patiently(held_) : lane_.enter_any(held_);
  }
  // Lets go of a lane that is not for us any more.
  bool still_open() noexcept {
    const bool must_be_open = kind_ == Kind::running || kind_ == Kind::look_in;
    if (status_ == PH_OK && must_be_open && lane_.closed()) release();
    return status_ == PH_OK;
  }

 private:
  ph_status enter() noexcept {
    if (kind_ == Kind::visit) return lane_.visit(held_);
    if (kind_ == Kind::stand_in) return lane_.try_visit(held_);
    if (kind_ == Kind::look_in) return lane_.try_visit_open(held_);
    return kind_ == Kind::closed_too ? lane_.enter_any(held_) : lane_.enter(held_);
  }

  Lane& lane_;
  const Kind kind_;
  Lane::Held held_{};
  ph_status status_;
};

}  // namespace photon::engine
