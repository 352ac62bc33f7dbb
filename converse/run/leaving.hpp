// The end of a job.
//
//   PE:   running -- ConverseExit(), CmiExit() --> leaving -- the job is over --> over
//         running -- the job is over --> over
//   job:  running -- ConverseExit() of all PEs, or CmiExit() of one --> over
//
// PE 0 of the job counts who leaves, and tells all when the job is over; CmiExit() tells all
// itself. A PE that is leaving goes on running the tasks of the library, and none of the program
// (`Pe::is_leaving`). One that hears that the job is over says so to its process. Then the first PE
// of each process meets those of the others and its own, has its own ones stop where they are, so
// that none uses a lane, finalizes and ends the process.
//
// Argument that nothing hangs, though PEs may be in barriers when the job is over:
//   - Each PE is told itself. One that runs messages, or meets others, hears of it.
//   - No barrier waits for a PE that has heard: the first of its process comes to one of the job,
//     and those of the process do without the others (ph_task_skip_barriers()). So each PE comes
//     out of its barrier, and asks its process whether anybody has heard (heed_end()).
//   - If nobody of a process has, it goes on, and may find that another process has left
//     (PH_ERR_DEPARTED). Processes leave for no other reason, so it waits for the word then, which
//     is on its way: a process that leaves waits until all that it has sent has gone.
// Owner: the PE. Threads: that of the PE.
#pragma once

#include "converse/base/pe.hpp"

namespace photon::converse {

void start_leaving(Pe& pe);

// Behind a barrier of the program: it may have met PEs that have heard that the job is over. Does
// not return then.
void heed_end(Pe& pe) noexcept;

// This PE has called ConverseExit(). Runs no more of the program, and does not return.
[[noreturn]] void leave(Pe& pe, int status) noexcept;

}  // namespace photon::converse
