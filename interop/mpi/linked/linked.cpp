// What the library that programs are linked with has beside the names MPIX_*: it leaves MPI's own
// names alone, so calls that it passes on go the way of the program's.
#include "interop/mpi/call/wrapped.hpp"
#include "interop/mpi/mpix/names.hpp"

namespace photon::mpi {

void* behind(const char* name) noexcept { return symbol_of(name); }

namespace {

// A program that was built for another MPI is told so before it has a window.
[[gnu::constructor]] void look_around() noexcept {
  if (symbol_of("PMPI_Init") == nullptr || is_our_abi()) return;
  pass_mpix_on();
  say_aside();
}

}  // namespace

}  // namespace photon::mpi
