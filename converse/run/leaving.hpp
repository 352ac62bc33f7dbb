// The end of a job.
//
//   PE:   running -- ConverseExit(), CmiExit() --> leaving -- the job is over --> over
//         running -- the job is over --> over
//   job:  running -- ConverseExit() of all PEs, or CmiExit() of one --> over
//
// PE 0 of the job counts who leaves, and tells all when the job is over. A PE that is leaving goes
// on running the tasks of the library, and none of the program (`Pe::is_leaving`). When the job is
// over the PEs meet once more, and the first one of each process ends it; the threads of the others
// wait for that.
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
