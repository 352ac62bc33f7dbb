// Calls whose time comes: once, or with a period (docs/tasks.md, "Timers, conditions, reductions,
// barriers").
//
//   armed -- take_due(), its time has come: once ------> over
//                                           periodic --> armed again, before its function runs
//         -- cancel() --> over
//
// The heap is binary. Of equal times the one that was armed first is due first.
// Invariant: no entry comes before its parent, and slots_[entry.slot].place is where that entry
// stands. A name holds slot and generation, so that of an earlier timer names none; a slot whose
// generation would wrap is not used again. The bits above kNameWidth are 0.
// Owner: one PE, whose thread makes every call.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "task/queue/call.hpp"

namespace photon::task {

class Timers {
 public:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  // That many microseconds behind now; kNever where no such time can be said.
  static std::int64_t after(std::int64_t now_ns, std::uint64_t time_us) noexcept {
    const auto most_us = static_cast<std::uint64_t>(kNever - now_ns) / 1000;
    return time_us >= most_us ? kNever : now_ns + static_cast<std::int64_t>(time_us) * 1000;
  }

  // Its name, which is not 0. A period of 0: once. Throws bad_alloc: nothing was done.
  std::uint64_t arm(std::int64_t at_ns, std::uint64_t period_us, const Call& call);
  // False: there is none of that name any more.
  bool cancel(std::uint64_t name) noexcept;

  std::size_t size() const noexcept { return heap_.size(); }
  // When the first one is due; kNever if there is none.
  std::int64_t first_ns() const noexcept { return heap_.empty() ? kNever : heap_[0].at_ns; }

  // What is armed from now on has this number or a later one.
  std::uint64_t turn() const noexcept { return turn_; }
  // The first that is due at that time, and was armed before that turn. A periodic one is armed
  // again: a period behind the time that it was due at, or behind now where that has passed, too.
  std::optional<Call> take_due(std::int64_t now_ns, std::uint64_t before) noexcept;

 private:
  struct Entry {
    std::int64_t at_ns;
    std::uint64_t turn;
    std::uint32_t slot;
  };
  struct Slot {
    std::uint32_t generation = 1;
    std::uint32_t place = 0;  // in the heap; of a free slot: the next free one
    std::uint64_t period_us = 0;
    Call call{};
  };
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint32_t kLastGeneration = (std::uint32_t{1} << (kNameWidth - 32)) - 1;

  static bool is_before(const Entry& one, const Entry& other) noexcept {
    return one.at_ns != other.at_ns ? one.at_ns < other.at_ns : one.turn < other.turn;
  }
  void set(std::size_t place, const Entry& entry) noexcept {
    heap_[place] = entry;
    slots_[entry.slot].place = static_cast<std::uint32_t>(place);
  }
  std::uint32_t take_slot();
  void free_slot(std::uint32_t number) noexcept;
  void rise(std::size_t place, const Entry& entry) noexcept;
  void sink(std::size_t place, const Entry& entry) noexcept;
  void remove(std::size_t place) noexcept;

  std::vector<Entry> heap_;
  std::vector<Slot> slots_;  // heap_ has room for as many
  std::uint32_t free_ = kNone;
  std::uint64_t turn_ = 0;
};

}  // namespace photon::task
