// MPI's names, for LD_PRELOAD: each is one jump to where its entry points.
//
//   an entry:  our function -- another MPI is loaded --> what stands behind us
//
// The jump leaves registers and stack as they are, for an MPI of another ABI has other arguments:
// its handles are pointers where ours are numbers, or the other way round. So this library can
// stand aside before programs that it was not built for.
// Owner: the process. Threads: any; entries change before main() and in MPI_Init() alone.
#include <cstdio>

#include "interop/mpi/call/wrapped.hpp"

#if defined(__x86_64__)
#define PHOTON_MPI_JUMP(entry) "  jmp *" entry "(%rip)\n"
#elif defined(__aarch64__)
#define PHOTON_MPI_JUMP(entry) \
  "  adrp x16, " entry "\n  ldr x16, [x16, :lo12:" entry "]\n  br x16\n"
#else
#error "a jump through memory is needed here: see PHOTON_MPI_JUMP"
#endif

extern "C" {
#define PHOTON_MPI_ENTRY(name)                                                              \
  [[gnu::visibility("hidden")]] void* photon_mpi_entry_##name =                             \
      reinterpret_cast<void*>(photon_MPI_##name);                                           \
  asm(".text\n.globl MPI_" #name "\n.type MPI_" #name ", @function\n.p2align 4\nMPI_" #name \
      ":\n" PHOTON_MPI_JUMP("photon_mpi_entry_" #name) ".size MPI_" #name ", .-MPI_" #name "\n");
PHOTON_MPI_WRAPPED(PHOTON_MPI_ENTRY)
#undef PHOTON_MPI_ENTRY
}

namespace photon::mpi {

namespace {

#ifdef OPEN_MPI
constexpr const char* kOwn = "Open MPI's";
#else
constexpr const char* kOwn = "MPICH's";
#endif

void stand_aside() noexcept {
#define PHOTON_MPI_PASS(name)                                            \
  if (void* const behind = next_symbol("MPI_" #name); behind != nullptr) \
    photon_mpi_entry_##name = behind;
  PHOTON_MPI_WRAPPED(PHOTON_MPI_PASS)
#undef PHOTON_MPI_PASS
  std::fprintf(stderr,
               "photon: this process has another MPI than %s, for whose ABI this library was "
               "built: it stands aside\n",
               kOwn);
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
