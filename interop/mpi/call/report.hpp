// How a call of ours ends: its outcome, by the error handler of the window or the communicator.
// Owner: none. Threads: any.
#pragma once

#include "interop/mpi/window/window.hpp"

namespace photon::mpi {

// MPI_SUCCESS, or a code of that class whose text is the outcome's words. The handler of the window
// has been called with it then.
int report_error(MPI_Win win, const Outcome& outcome) noexcept;
inline int report(MPI_Win win, const Outcome& outcome) noexcept {
  return outcome.is_good() ? MPI_SUCCESS : report_error(win, outcome);
}

// The same by the handler of a communicator; null: of none.
int report_on(MPI_Comm comm, const Outcome& outcome) noexcept;

// This tells whether a rank names a member of the window. MPI_PROC_NULL does not; the caller looks
// for it.
Outcome check_member(const Window& window, int rank) noexcept;

}  // namespace photon::mpi
