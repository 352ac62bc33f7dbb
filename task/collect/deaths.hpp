// Which processes a PE takes for dead, and its counts with that in mind (docs/tasks.md,
// "Quiescence").
//
//   process: alive -- its lane says so, and nothing more has come of it --> dead
//            alive -- another PE says so: contact is made, so that the lane hears of it
//
// Invariant: when a process is in the set, all that has come of it by this lane is in its
// `arrived`: libphoton says that a rank is dead when it has read what that rank had sent.
// Owner: one PE, whose thread makes every call.
#pragma once

#include <cstdint>

#include "task/collect/process_set.hpp"
#include "task/run/pe.hpp"

namespace photon::task {

class Deaths {
 public:
  explicit Deaths(Pe& pe) : pe_(pe), dead_(pe.shared().processes) {}

  const ProcessSet& dead() const noexcept { return dead_; }
  // The lowest process that lives.
  std::uint32_t lowest() const noexcept;
  // Asks the lane. True: there are more than before.
  bool look() noexcept;
  // What another PE knows.
  void heed(const ProcessSet& told) noexcept;

  // What this PE has created and processed. Of a dead process what came counts as created here, and
  // what was sent to it does not count.
  std::uint64_t created() const noexcept;
  std::uint64_t processed() const noexcept;

 private:
  bool is_lost(std::uint32_t process) const noexcept;

  Pe& pe_;
  ProcessSet dead_;
};

}  // namespace photon::task
