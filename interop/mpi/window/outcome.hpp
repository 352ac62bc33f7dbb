// How a call of ours ends.
// Owner: none. Threads: any.
#pragma once

#include "interop/mpi/real/real.hpp"

namespace photon::mpi {

// Null words say that all went well; others name what is wrong, for MPI_Error_string(). They are
// literals, and the same words go with one class.
struct Outcome {
  int error_class = MPI_SUCCESS;
  const char* words = nullptr;
  bool is_good() const noexcept { return error_class == MPI_SUCCESS; }
};

inline constexpr Outcome kInFunction{MPI_ERR_OTHER,
                                     "a call inside an operation or a handler of the program, "
                                     "which may not wait for other ranks"};

}  // namespace photon::mpi
