// The layout of a datatype, worked out from how it was made: by recursion over its constructors, or
// by MPI_Pack where a constructor is not known here.
// Owner: none (a function). Threads: any.
#pragma once

#include "interop/mpi/real/real.hpp"
#include "interop/mpi/type/layout.hpp"
#include "interop/mpi/type/predefined.hpp"

namespace photon::mpi {

// Throws Refused, or std::bad_alloc.
Layout describe(MPI_Datatype type, const Predefined& predefined);

}  // namespace photon::mpi
