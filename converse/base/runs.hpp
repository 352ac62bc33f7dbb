// The runs of the scheduler that are under way on a PE.
//
//   none -- CsdScheduler() --> running -- as many have run, or none is left --> over
//   running -- CsdExitScheduler() --> ending, as all those around it --> over
//
// libphoton_task ends the innermost of its runs when it is told to. CsdExitScheduler() means all:
// so each Run keeps how many such calls there were when it began, and ends when there are more.
// CthSuspend() outside of threads runs messages as well. That is a Run, too, so that what runs
// there is not counted by the one around it.
// Invariant: `innermost` and those around it live on the stack of this PE, or of threads that run.
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

// Ends the innermost run of libphoton_task if the scheduler around it is to end. None is under way:
// nothing. Behind whatever may have run others inside.
inline void heed_ends(Pe& pe) noexcept {
  const Schedule& schedule = schedule_of(pe);
  if (schedule.innermost != nullptr && schedule.innermost->exits != schedule.exits)
    static_cast<void>(ph_task_stop(pe.task));
}

// A part of a run: as ph_task_run(). The result is how many were messages of the program, of those
// that count: a task of the library itself is none.
inline std::uint64_t run_part(Pe& pe, const char* call, Run& run, std::int64_t count,
                              std::uint64_t& ran) noexcept {
  Schedule& schedule = schedule_of(pe);
  const std::uint64_t outer_tasks = pe.own_tasks;
  run.outer = schedule.innermost;
  schedule.innermost = &run;
  pe.own_tasks = 0;
  require(pe, call, ph_task_run(pe.task, count, &ran));
  const std::uint64_t counted = ran - pe.own_tasks;
  pe.own_tasks = outer_tasks;
  schedule.innermost = run.outer;
  return counted;
}

}  // namespace photon::converse
