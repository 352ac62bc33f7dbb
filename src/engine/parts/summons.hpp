// How the thread that serves a lane's peers is called from its pauses, by whoever begins what its
// caller may leave alone, and how it is told to begin and to end.
//
//   not begun -- begin() --> pausing -- the time is over, or called --> looking --> pausing
//   any -- end() --> over
//
// Invariant: a call between two pauses ends the next one at once. Owner: the ProgressThread;
// hurry() and come_soon() come from inside the lane, begin() and end() from any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "sync/hint.hpp"

namespace photon::engine {

class Summons {
 public:
  using Microseconds = std::chrono::microseconds;

  void begin() noexcept;
  void end() noexcept;
  // When an operation queues: if the thread is in one of its longest pauses, it looks in
  // progress_silence_us. So who posts and computes from then on is served soon.
  void hurry() noexcept {
    if (dozes()) call();
  }
  bool dozes() const noexcept { return dozes_.get() != 0; }
  // The same, whatever its pause: what was begun takes long, and its caller may compute from now
  // on.
  void come_soon() noexcept;

  // ---- by the thread
  bool await_begin();  // false: it is over
  enum class Call : std::uint8_t { none, soon };
  // At most so long; is_long: one of the longest pauses.
  Call pause(Microseconds time, bool is_long);
  bool take_hurry();                 // whether the pause was one that hurry() has ended
  void pause_on(Microseconds time);  // which no call ends
  bool is_over();

 private:
  void call() noexcept;

  sync::Hint<sync::HardwarePolicy, std::uint32_t> dozes_;  // it is in a longest pause
  std::mutex mutex_;
  std::condition_variable changed_;
  bool begun_ = false;  // this and below: under mutex_
  bool hurried_ = false;
  bool is_wanted_soon_ = false;
  bool over_ = false;
};

}  // namespace photon::engine
