#include "interop/mpi/mpix/names.hpp"

#include <cstdio>
#include <type_traits>

#include "interop/mpi/call/jump.hpp"
#include "interop/mpi/call/own.hpp"
#include "interop/mpi/call/wrapped.hpp"
#include "interop/mpi/photon_mpi.h"
#include "interop/mpi/window/job.hpp"

namespace photon::mpi {

namespace {

#ifdef OPEN_MPI
constexpr const char* kOwn = "Open MPI's";
#elif defined(PHOTON_MPI_STANDARD_ABI)
constexpr const char* kOwn = "that of MPI 5";
#else
constexpr const char* kOwn = "MPICH's";
#endif

// The arguments are those of MPI's own, whatever its version says of them.
#define PHOTON_MPIX_CHECK(name) \
  static_assert(std::is_same_v<decltype(MPIX_##name), decltype(MPI_##name)>, "MPIX_" #name);
PHOTON_MPI_ONE_SIDED(PHOTON_MPIX_CHECK)
#undef PHOTON_MPIX_CHECK

int init() noexcept;
int refuse() noexcept { return MPI_ERR_OTHER; }

}  // namespace

}  // namespace photon::mpi

extern "C" {
[[gnu::visibility("hidden")]] void* photon_mpix_entry_Init =
    reinterpret_cast<void*>(photon::mpi::init);
PHOTON_MPI_EXPORT("MPIX_Init", photon_mpix_entry_Init);
#define PHOTON_MPIX_ENTRY(name)                                  \
  [[gnu::visibility("hidden")]] void* photon_mpix_entry_##name = \
      reinterpret_cast<void*>(photon_MPI_##name);                \
  PHOTON_MPI_EXPORT("MPIX_" #name, photon_mpix_entry_##name);
PHOTON_MPI_ONE_SIDED(PHOTON_MPIX_ENTRY)
#undef PHOTON_MPIX_ENTRY
#define PHOTON_MPIX_ENTRY(name)                                  \
  [[gnu::visibility("hidden")]] void* photon_mpix_entry_##name = \
      reinterpret_cast<void*>(photon_MPIX_##name);               \
  PHOTON_MPI_EXPORT("MPIX_" #name, photon_mpix_entry_##name);
PHOTON_MPIX_OWN(PHOTON_MPIX_ENTRY)
#undef PHOTON_MPIX_ENTRY
}

namespace photon::mpi {

namespace {

// MPI may have come since this library was loaded, so its ABI is looked at once more.
int init() noexcept {
  int is_begun = 0;
  int is_over = 0;
  if (!is_our_abi()) {
    if (symbol_of("PMPI_Init") == nullptr) return MPI_ERR_OTHER;
    pass_mpix_on();
    say_aside();
    return reinterpret_cast<decltype(&MPIX_Init)>(photon_mpix_entry_Init)();
  }
  real().Initialized(&is_begun);
  if (is_begun != 0) real().Finalized(&is_over);
  if (is_begun == 0 || is_over != 0) return MPI_ERR_OTHER;
  Job::begin();
  return Job::current() != nullptr ? MPI_SUCCESS : MPI_ERR_OTHER;
}

}  // namespace

void pass_mpix_on() noexcept {
  void* const next_init = next_symbol("MPIX_Init");
  photon_mpix_entry_Init = next_init != nullptr ? next_init : reinterpret_cast<void*>(refuse);
#define PHOTON_MPIX_PASS(name)                                  \
  if (void* next = next_symbol("MPIX_" #name); next != nullptr) \
    photon_mpix_entry_##name = next;                            \
  else if (next = behind("MPI_" #name); next != nullptr)        \
    photon_mpix_entry_##name = next;
  PHOTON_MPI_ONE_SIDED(PHOTON_MPIX_PASS)
#undef PHOTON_MPIX_PASS
#define PHOTON_MPIX_PASS(name)                          \
  void* const next_##name = next_symbol("MPIX_" #name); \
  photon_mpix_entry_##name = next_##name != nullptr ? next_##name : reinterpret_cast<void*>(refuse);
  PHOTON_MPIX_OWN(PHOTON_MPIX_PASS)
#undef PHOTON_MPIX_PASS
}

void say_aside() noexcept {
  std::fprintf(stderr,
               "photon: this process has an MPI of another ABI than %s, for which this library was "
               "built: it stands aside\n",
               kOwn);
}

}  // namespace photon::mpi
