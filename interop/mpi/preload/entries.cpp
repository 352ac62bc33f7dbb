// MPI's names, for LD_PRELOAD: each is one jump to where its entry points.
//
//   an entry:  our function -- another MPI is loaded --> what stands behind us
//
// The jump leaves registers and stack as they are, for an MPI of another ABI has other arguments:
// its handles are pointers where ours are numbers, or the other way round. So this library can
// stand aside before programs that it was not built for.
// Owner: the process. Threads: any; entries change before main() and in MPI_Init() alone.
#include "interop/mpi/call/jump.hpp"
#include "interop/mpi/call/wrapped.hpp"
#include "interop/mpi/mpix/names.hpp"

extern "C" {
#define PHOTON_MPI_ENTRY(name)                                  \
  [[gnu::visibility("hidden")]] void* photon_mpi_entry_##name = \
      reinterpret_cast<void*>(photon_MPI_##name);               \
  PHOTON_MPI_EXPORT("MPI_" #name, photon_mpi_entry_##name);
PHOTON_MPI_WRAPPED(PHOTON_MPI_ENTRY)
#undef PHOTON_MPI_ENTRY
}

namespace photon::mpi {

void* behind(const char* name) noexcept { return next_symbol(name); }

namespace {

void stand_aside() noexcept {
#define PHOTON_MPI_PASS(name) \
  if (void* const next = behind("MPI_" #name); next != nullptr) photon_mpi_entry_##name = next;
  PHOTON_MPI_WRAPPED(PHOTON_MPI_PASS)
#undef PHOTON_MPI_PASS
  pass_mpix_on();
  say_aside();
}

// MPI may come with a plug-in that the program loads itself: then its first call is looked at. The
// arguments of these two are the same in each ABI.
void look_again() noexcept {
  photon_mpi_entry_Init = reinterpret_cast<void*>(photon_MPI_Init);
  photon_mpi_entry_Init_thread = reinterpret_cast<void*>(photon_MPI_Init_thread);
  if (!is_our_abi()) stand_aside();
}
int late_init(int* argc, char*** argv) noexcept {
  look_again();
  return reinterpret_cast<decltype(&MPI_Init)>(photon_mpi_entry_Init)(argc, argv);
}
int late_init_thread(int* argc, char*** argv, int required, int* provided) noexcept {
  look_again();
  return reinterpret_cast<decltype(&MPI_Init_thread)>(photon_mpi_entry_Init_thread)(
      argc, argv, required, provided);
}

// Programs without MPI may have this library before them as well, as launchers do.
[[gnu::constructor]] void look_around() noexcept {
  if (symbol_of("PMPI_Init") == nullptr) {
    photon_mpi_entry_Init = reinterpret_cast<void*>(late_init);
    photon_mpi_entry_Init_thread = reinterpret_cast<void*>(late_init_thread);
  } else if (!is_our_abi()) {
    stand_aside();
  }
}

}  // namespace

}  // namespace photon::mpi
