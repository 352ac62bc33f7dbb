#include "interop/mpi/call/wrapped.hpp"

namespace photon::mpi {

namespace {

Next look_up() noexcept {
  Next next;
#define PHOTON_MPI_FIND(name) \
  next.name = reinterpret_cast<decltype(next.name)>(behind("MPI_" #name));
  PHOTON_MPI_WRAPPED(PHOTON_MPI_FIND)
#undef PHOTON_MPI_FIND
  return next;
}

}  // namespace

const Next& next() noexcept {
  static const Next found = look_up();
  return found;
}

}  // namespace photon::mpi
