// Where somebody takes the time from: from the system's clock, or from one that was given to it, as
// tests do, and a simulator may. docs/architecture.md, Time, says who is given one.
//
// Invariant: whoever has a TimeSource compares only times of that source, and asks it for all that
// goes with time: to be woken at one, and to rest until one comes.
// Owner: a value, which its holder copies. A clock that was given outlives all copies.
#pragma once

#include <cstdint>

#include "base/clock.hpp"

namespace photon::base {

class TimeSource {
 public:
  // A clock that somebody moves. Threads: any.
  class Given {
   public:
    virtual std::int64_t now_ns() noexcept = 0;
    // The timer (a timerfd) becomes readable when the clock is there; 0: not any more.
    virtual void ring_at(int timer, std::int64_t at_ns) noexcept = 0;
    // Somebody does nothing but wait for the time to pass, turn by turn.
    virtual void pause() noexcept = 0;

   protected:
    ~Given() = default;
  };

  TimeSource() noexcept = default;  // the system's clock
  explicit TimeSource(Given& given) noexcept : given_(&given) {}

  // As base::now_ns(), which the system's clock is read by.
  std::int64_t now_ns() const noexcept {
    return given_ == nullptr ? base::now_ns() : given_->now_ns();
  }
  // The timer, of CLOCK_MONOTONIC, becomes readable at that time; 0: not any more. What was set
  // before is forgotten. To be called with 0 before the timer is closed.
  void ring_at(int timer, std::int64_t at_ns) const noexcept;
  // In a loop that waits for a time. False: the clock moves by itself, so the caller rests as it
  // likes.
  bool pause() const noexcept {
    if (given_ == nullptr) return false;
    given_->pause();
    return true;
  }

 private:
  Given* given_ = nullptr;
};

}  // namespace photon::base
