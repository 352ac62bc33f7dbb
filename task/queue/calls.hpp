// What the loop of a PE calls beside tasks: functions of timers and of conditions, and whether it
// is idle.
//
//   busy -- begin_idle(): "begin idle" is called --> idle -- begin_idle(): "still idle" is --> idle
//   idle -- end_idle(): "end idle" is called --> busy
//
// Invariant: functions are called in look(), begin_idle() and end_idle(), and nowhere else.
// Owner: one PE, whose thread makes every call.
#pragma once

#include <cstdint>

#include "task/queue/conditions.hpp"
#include "task/queue/timers.hpp"

namespace photon::task {

class Calls {
 public:
  // While it lives, a function of the program runs that is no handler. They may be nested.
  class Inside {
   public:
    explicit Inside(Calls& calls) noexcept : depth_(calls.depth_) { ++depth_; }
    ~Inside() { --depth_; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    std::uint32_t& depth_;
  };

  // Functions get that PE.
  explicit Calls(ph_task_pe* pe) noexcept : pe_(pe) {}
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;

  Timers& timers() noexcept { return timers_; }
  Conditions& conditions() noexcept { return conditions_; }
  bool is_inside() const noexcept { return depth_ != 0; }
  std::uint32_t depth() const noexcept { return depth_; }
  bool is_idle() const noexcept { return is_idle_; }

  // Timers that are due at that time, but for those that are armed meanwhile, and "each loop".
  void look(std::int64_t now_ns) noexcept {
    if (timers_.first_ns() <= now_ns) [[unlikely]]
      run_due(now_ns);
    if (conditions_.has(Condition::each_loop)) [[unlikely]]
      raise(Condition::each_loop);
  }
  // Nothing is left to do. True: a function was called, and may have brought something.
  bool begin_idle() noexcept;
  void end_idle() noexcept;
  // Somebody wants to hear of each loop, so there is always a next one.
  bool polls() const noexcept { return conditions_.has(Condition::each_loop); }
  // How long a PE that is idle at that time may sleep; 0: a timer is due, or it polls.
  std::int64_t sleep_us(std::int64_t now_ns) const noexcept;

 private:
  static constexpr std::int64_t kLongestSleepUs = 3'600'000'000;
  static constexpr std::int64_t kStillIdleUs = 1000;

  void run_due(std::int64_t now_ns) noexcept;
  void raise(Condition condition) noexcept;

  ph_task_pe* pe_;
  Timers timers_;
  Conditions conditions_;
  std::uint32_t depth_ = 0;
  bool is_idle_ = false;
};

}  // namespace photon::task
