// The processes from which one PE waits for an answer that only they can give: those that were
// asked to issue operations (turns.hpp), and those that read its broadcasts (spread.hpp). No id
// tells that such a process is lost, so the lane is asked at each look.
//
//   process: free -- add() --> awaited -- remove(), as often --> free
//            awaited -- the lane says that it is lost --> marked, with what has come of it
//            marked -- a later look: more has come --> marked, with that
//                   -- a later look: nothing more --> told as lost, and all is removed
//
// libphoton reads what a process has sent to its end before it says that it is lost. So all has
// come of it by the PE's own lane where two looks behind that have found as much of it, whatever
// others send meanwhile. An answer that came by a sibling's lane, or that stands in the inbox yet,
// is stale then: the operation has one done, which says that the process was lost.
// Owner: the PE.
#pragma once

#include <cstdint>
#include <vector>

#include "task/machine/machine.hpp"

namespace photon::task {

class Awaited {
 public:
  // Throws bad_alloc.
  explicit Awaited(std::uint32_t processes) : all_(processes) { awaited_.reserve(processes); }
  Awaited(const Awaited&) = delete;
  Awaited& operator=(const Awaited&) = delete;

  // One answer of it more, or one less.
  void add(std::uint32_t process) noexcept;
  void remove(std::uint32_t process) noexcept;
  bool any() const noexcept { return !awaited_.empty(); }

  // Asks the lane about all of them, or about the next one. `lost(process, status)` is called of
  // each that is lost, once, and removes all that is awaited of it. True: one is lost, or marked,
  // so another look is due.
  template <class Function>
  bool look(Machine& machine, bool asks_all, Function lost) noexcept {
    const auto look_at = [&](std::uint32_t process) {
      const Found found = ask(machine, process);
      if (found.is_over) lost(process, found.status);
      return found.status != PH_OK;
    };
    if (!asks_all) return any() && look_at(next());
    bool is_due = false;
    for (std::size_t place = awaited_.size(); place-- != 0;)  // from the end on: one may go
      is_due |= look_at(awaited_[place]);
    return is_due;
  }

 private:
  struct One {
    std::uint64_t answers = 0;  // that are awaited
    std::uint64_t arrived = 0;  // of it, when it was marked
    bool is_marked = false;
  };
  struct Found {
    ph_status status;  // PH_OK: it lives
    bool is_over;      // nothing more comes of it
  };

  std::uint32_t next() noexcept;
  Found ask(Machine& machine, std::uint32_t process) noexcept;

  std::vector<One> all_;
  std::vector<std::uint32_t> awaited_;  // processes; room for all
  std::size_t last_ = 0;                // the place of the one that was asked about last
};

}  // namespace photon::task
