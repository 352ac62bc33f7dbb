// The collective calls about handlers of a communicator.
//
// The circle of a communicator stands on it as an attribute. It has a communicator of its own, so
// the program may free its one; whoever goes last, that one or the last handler, takes it along.
// Both are collective, so all members do the same.
// Owner: none. Threads: one call at a time of the same members.
#pragma once

#include "interop/mpi/message/am_server.hpp"

namespace photon::mpi {

struct Wanted {
  Handler handler;
  int id = 0;
  MPI_Comm comm = MPI_COMM_NULL;
};

// MPI_KEYVAL_INVALID: MPI refuses.
int make_circle_keyval() noexcept;

// `handle` is set if it goes well.
Outcome register_handler(Job& job, const Wanted& wanted, MPIX_Am* handle) noexcept;
// Of a good handle, which is gone then, but where its members disagree.
Outcome free_handler(AmServer& server, MPIX_Am* handle) noexcept;
Outcome quiesce(MPI_Comm comm) noexcept;

}  // namespace photon::mpi
