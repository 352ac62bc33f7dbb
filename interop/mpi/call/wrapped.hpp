// The calls of MPI that this library stands before (docs/mpi.md), by their names without "MPI_".
//
// For each there is a function `photon_MPI_<name>` of the same type, and next().<name>: what the
// program would have called without this library, another tool or MPI itself. All but the first two
// are also exported as MPIX_<name> (mpix/).
// Owner: the process. Threads: any.
#pragma once

#include "interop/mpi/real/real.hpp"

#define PHOTON_MPI_BEGINNINGS(X) \
  X(Init)                        \
  X(Init_thread)

#define PHOTON_MPI_WRAPPED_SMALL(X) \
  X(Alloc_mem)                      \
  X(Free_mem)                       \
  X(Win_create)                     \
  X(Win_allocate)                   \
  X(Win_free)                       \
  X(Win_get_attr)                   \
  X(Win_get_info)                   \
  X(Win_shared_query)               \
  X(Win_fence)                      \
  X(Win_post)                       \
  X(Win_start)                      \
  X(Win_complete)                   \
  X(Win_wait)                       \
  X(Win_test)                       \
  X(Win_lock)                       \
  X(Win_unlock)                     \
  X(Win_lock_all)                   \
  X(Win_unlock_all)                 \
  X(Win_flush)                      \
  X(Win_flush_local)                \
  X(Win_flush_all)                  \
  X(Win_flush_local_all)            \
  X(Win_sync)                       \
  X(Put)                            \
  X(Get)                            \
  X(Accumulate)                     \
  X(Get_accumulate)                 \
  X(Fetch_and_op)                   \
  X(Compare_and_swap)               \
  X(Rput)                           \
  X(Rget)                           \
  X(Raccumulate)                    \
  X(Rget_accumulate)                \
  X(Op_create)                      \
  X(Op_free)

#if MPI_VERSION >= 4
#define PHOTON_MPI_WRAPPED_LARGE(X) \
  X(Win_create_c)                   \
  X(Win_allocate_c)                 \
  X(Win_shared_query_c)             \
  X(Put_c)                          \
  X(Get_c)                          \
  X(Accumulate_c)                   \
  X(Get_accumulate_c)               \
  X(Rput_c)                         \
  X(Rget_c)                         \
  X(Raccumulate_c)                  \
  X(Rget_accumulate_c)              \
  X(Op_create_c)
#else
#define PHOTON_MPI_WRAPPED_LARGE(X)
#endif

#define PHOTON_MPI_ONE_SIDED(X) \
  PHOTON_MPI_WRAPPED_SMALL(X)   \
  PHOTON_MPI_WRAPPED_LARGE(X)

#define PHOTON_MPI_WRAPPED(X) \
  PHOTON_MPI_BEGINNINGS(X)    \
  PHOTON_MPI_ONE_SIDED(X)

extern "C" {
#define PHOTON_MPI_DECLARE(name) \
  [[gnu::visibility("hidden")]] decltype(MPI_##name) photon_MPI_##name;
PHOTON_MPI_WRAPPED(PHOTON_MPI_DECLARE)
#undef PHOTON_MPI_DECLARE
}

namespace photon::mpi {

struct Next {
#define PHOTON_MPI_DECLARE(name) decltype(&MPI_##name) name = nullptr;
  PHOTON_MPI_WRAPPED(PHOTON_MPI_DECLARE)
#undef PHOTON_MPI_DECLARE
};

// Whole when MPI is loaded; the caller has made sure of that.
const Next& next() noexcept;

// What a call of that name reaches where this library passes it on; null: nothing. Each library
// that has these functions has its own: preload/ looks behind itself, and linked/, which has none
// of MPI's names, asks as the program would.
void* behind(const char* name) noexcept;

}  // namespace photon::mpi
