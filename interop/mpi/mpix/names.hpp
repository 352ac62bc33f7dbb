// The names MPIX_*, for programs that are linked with this library instead of being started behind
// it (photon_mpi.h). The preloaded library has them as well: it comes first in the order of the
// program's look-ups, so where both are in one process, it serves them, and the job is one.
//
//   an entry:  our function -- another MPI is loaded --> MPIX_* of a library behind us, else MPI_*
//
// Owner: the process. Threads: any; entries change before main() and in MPIX_Init() alone.
#pragma once

namespace photon::mpi {

// From now on this library serves none of the names.
void pass_mpix_on() noexcept;

// This says on stderr that the process has another MPI than that of this library.
void say_aside() noexcept;

}  // namespace photon::mpi
