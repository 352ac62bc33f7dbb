// Functions that the loop of a PE calls when it becomes idle, stays idle, ends that, or looks
// (docs/tasks.md, "Timers, conditions, reductions, barriers").
//
//   added -- raise() --> called, and still there
//         -- cancel() --> over; while functions are being called it is dropped behind them
//
// Invariant: functions of one condition are called in the order in which they were added. One that
// is added while they are called has its first turn at the next raise(); one that is cancelled
// meanwhile is not called any more.
// Owner: one PE, whose thread makes every call.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "task/queue/call.hpp"

namespace photon::task {

enum class Condition : std::uint8_t { begin_idle, still_idle, end_idle, each_loop };
inline constexpr std::size_t kConditions = 4;

class Conditions {
 public:
  // Its name, which is not 0. Throws bad_alloc: nothing was done.
  std::uint64_t add(Condition condition, const Call& call);
  // False: there is none of that name any more.
  bool cancel(std::uint64_t name) noexcept;
  bool has(Condition condition) const noexcept { return list_of(condition).alive != 0; }
  void raise(Condition condition, ph_task_pe* pe) noexcept;

 private:
  struct Entry {
    std::uint64_t name;
    Call call;  // the function is null: cancelled
  };
  struct List {
    std::vector<Entry> entries;
    std::size_t alive = 0;
    std::size_t raising = 0;  // how many raise() are under way, one inside another
  };
  const List& list_of(Condition condition) const noexcept {
    return lists_[static_cast<std::size_t>(condition)];
  }

  std::array<List, kConditions> lists_;
  std::uint64_t names_ = 0;
};

}  // namespace photon::task
