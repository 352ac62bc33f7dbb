// The runs of the scheduler that are under way on a PE.
//
//   none -- CsdScheduler() --> running -- as many have run, or none is left --> over
//   running -- CsdExitScheduler() --> ending, as all those around it --> over
//
// libphoton_task ends the innermost of its runs when it is told to. CsdExitScheduler() means all:
// so each Run keeps how many such calls there were when it began, and ends when there are more.
// Invariant: `innermost` and those around it live on the stack of this PE, or of threads that wait.
// Owner: the PE. Threads: that of the PE.
#pragma once

#include "converse/base/pe.hpp"

namespace photon::converse {

struct Run {
  Run* outer;
  std::uint64_t exits;     // calls of CsdExitScheduler() before it began
  std::uint64_t most = 0;  // messages, of one that does not wait for them; 0: all
};

struct Schedule {
  Run* innermost = nullptr;
  std::uint64_t exits = 0;
  std::uint64_t queued = 0;  // in the queue of priorities of this PE
};

inline Schedule& schedule_of(Pe& pe) noexcept { return *static_cast<Schedule*>(pe.parts.schedule); }

void start_schedule(Pe& pe);

// Ends the innermost run of libphoton_task if the scheduler around it is to end. After each
// message.
void heed_exits(Pe& pe) noexcept;

// Runs messages as ph_task_run() does, until CsdExitScheduler(). Returns how many.
std::uint64_t run_messages(Pe& pe, const char* call, std::int64_t count) noexcept;

}  // namespace photon::converse
