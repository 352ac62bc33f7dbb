// The forms of operations share how they begin and end, whatever their counts are.
// Owner: none. Threads: any.
#pragma once

#include "interop/mpi/call/report.hpp"
#include "interop/mpi/call/requests.hpp"
#include "interop/mpi/window/asking.hpp"

namespace photon::mpi {

// The operations only read what they are given so.
inline void* reader(const void* memory) noexcept { return const_cast<void*>(memory); }

// This tells whether an operation with a request may be done.
inline Outcome check(Window& window, int rank) noexcept {
  if (rank == MPI_PROC_NULL) return {};
  const Outcome outcome = check_member(window, rank);
  return outcome.is_good() ? window.check_passive(rank) : outcome;
}

// An operation with a request reports, and gives a request that is over.
inline int finish(Window& window, int rank, MPI_Win win, Outcome outcome,
                  MPI_Request* request) noexcept {
  if (outcome.is_good() && rank != MPI_PROC_NULL) outcome = release(window, rank);
  const int code = report(win, outcome);
  return code == MPI_SUCCESS ? complete_request(request) : code;
}

}  // namespace photon::mpi
