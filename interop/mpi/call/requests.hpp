// Requests of operations that are over: MPI's own calls wait for them and test them.
// Owner: MPI, until the program has waited for it. Threads: any, as MPI's level allows.
#pragma once

#include "interop/mpi/real/real.hpp"

namespace photon::mpi {

// A generalized request that is complete. Else a status of MPI's.
int complete_request(MPI_Request* request) noexcept;

}  // namespace photon::mpi
