// The memory model: how stores leave their buffers, what loads may return and who learns what.
// The header of checker.hpp states it; here every rule is one function over a Draft.
// Owner: none (acts on the draft it is given).
#pragma once

#include <cstdint>

#include "checker/operation.hpp"
#include "checker/state.hpp"

namespace photon::checker {

std::uint64_t visible(const Draft& draft, unsigned thread, LocationId location);  // newest
bool buffers(const Draft& draft, unsigned thread, LocationId location);
// How many values its load may choose from; choice 0 is the newest.
unsigned choices(const Draft& draft, unsigned thread, const Operation& load);

class Memory {
 public:
  // The last location of the draft stands for the one order of all full fences.
  // `has_fences`: only then what relaxed accesses know matters.
  Memory(Draft& draft, bool has_fences) : draft_(draft), has_fences_(has_fences) {}

  std::uint64_t load(unsigned thread, const Operation& op, unsigned choice);
  void store(unsigned thread, const Operation& op);
  std::uint64_t modify(unsigned thread, const Operation& op);  // read-modify-write
  std::uint64_t event(unsigned thread, const Operation& op);
  void full_fence(unsigned thread);
  // The heavy barrier of `caller` reaches `target`. Not an event for the race detector: what is
  // ordered by it alone is ordered by no C++ rule.
  void interrupt(unsigned caller, unsigned target);
  // A spinning thread goes on: what made it go on is what it sees.
  void catch_up(unsigned thread, LocationId location);

  void drain(unsigned thread, LocationId location);  // its oldest store there
  void drain_all(unsigned thread);

  // Cells as plain memory. False: a data race.
  bool cell_get(unsigned thread, const Operation& op, std::uint64_t& value);
  bool cell_set(unsigned thread, const Operation& op);

  void forget_unreadable();  // messages that no thread may read any more

 private:
  void drain_entry(unsigned thread, std::size_t index);
  std::uint16_t append(LocationId location, std::uint64_t value, const Knowledge& known);
  void acquire(ThreadState& thread, const Knowledge& known, std::memory_order order);
  void tick(unsigned thread);
  void share_fence_order(unsigned thread);
  bool tracks_views(unsigned thread) const { return !draft_.thread(thread).known.view.empty(); }

  Draft& draft_;
  bool has_fences_;
};

}  // namespace photon::checker
