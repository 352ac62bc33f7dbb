// Calls that no MPI has, by their names without "MPIX_" (photon_mpi.h).
//
// For each there is a function `photon_MPIX_<name>` of the same type, which mpix/ exports.
// Owner: the process. Threads: as photon_mpi.h says.
#pragma once

#include "interop/mpi/photon_mpi.h"

#define PHOTON_MPIX_OWN(X) \
  X(Op_register)           \
  X(Op_deregister)         \
  X(Am_handler_register)   \
  X(Am_free)               \
  X(Am_send)               \
  X(Am_quiesce)            \
  X(Am_layout_create)      \
  X(Am_layout_free)

extern "C" {
#define PHOTON_MPI_DECLARE(name) \
  [[gnu::visibility("hidden")]] decltype(MPIX_##name) photon_MPIX_##name;
PHOTON_MPIX_OWN(PHOTON_MPI_DECLARE)
#undef PHOTON_MPI_DECLARE
}
