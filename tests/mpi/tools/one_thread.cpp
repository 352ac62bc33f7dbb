// A library that stands behind the preloaded one and before MPI: each call of MPI that Photon's
// library makes itself comes by here. It ends the process if one comes from another thread than
// that which has called MPI_Init(), in a program of MPI_THREAD_SINGLE.
//
//   LD_PRELOAD=libphoton_pmpi-<abi>.so:libone_thread-<abi>.so
//
// At MPI_Finalize() it says how many have come, and how many threads the process has.
// Owner: the process. Threads: any; what it keeps is written in MPI_Init(), and counted by atomics.
#include <dlfcn.h>
#include <mpi.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "interop/mpi/real/calls.hpp"

namespace {

pid_t initial_thread = 0;  // 0: MPI_Init() has not begun, or more threads were asked for
std::atomic<long> calls{0};

void look(const char* name) {
  calls.fetch_add(1, std::memory_order_relaxed);
  if (initial_thread == 0 || initial_thread == ::gettid()) return;
  std::fprintf(stderr, "one_thread: %s comes from another thread\n", name);
  std::abort();
}

template <class Name, class Function>
struct Call;

template <class Name, class Result, class... Arguments>
struct Call<Name, Result (*)(Arguments...)> {
  static Result run(Arguments... arguments) {
    look(Name::kText);
    static const auto next =
        reinterpret_cast<Result (*)(Arguments...)>(::dlsym(RTLD_NEXT, Name::kText));
    return next(arguments...);
  }
};

template <class Function>
Function next_of(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

int threads() {
  std::FILE* const file = std::fopen("/proc/self/status", "r");
  char line[256];
  int found = 0;
  while (file != nullptr && std::fgets(line, sizeof line, file) != nullptr)
    if (std::sscanf(line, "Threads: %d", &found) == 1) break;
  if (file != nullptr) std::fclose(file);
  return found;
}

}  // namespace

// A function of each name, as a jump to the one above, whatever its type is.
#define ONE_THREAD_ENTRY(name)                                                     \
  namespace {                                                                      \
  struct Name_##name {                                                             \
    static constexpr const char* kText = "PMPI_" #name;                            \
  };                                                                               \
  }                                                                                \
  extern "C" {                                                                     \
  [[gnu::visibility("hidden")]] void* one_thread_##name =                          \
      reinterpret_cast<void*>(Call<Name_##name, decltype(&PMPI_##name)>::run);     \
  }                                                                                \
  asm(".text\n.globl PMPI_" #name "\n.type PMPI_" #name ", @function\nPMPI_" #name \
      ":\n  jmp *one_thread_" #name "(%rip)\n.size PMPI_" #name ", .-PMPI_" #name "\n");
PHOTON_MPI_REAL(ONE_THREAD_ENTRY)
#undef ONE_THREAD_ENTRY

extern "C" {

int MPI_Init(int* argc, char*** argv) {
  initial_thread = ::gettid();
  return next_of<decltype(&MPI_Init)>("MPI_Init")(argc, argv);
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  if (required == MPI_THREAD_SINGLE) initial_thread = ::gettid();
  return next_of<decltype(&MPI_Init_thread)>("MPI_Init_thread")(argc, argv, required, provided);
}

int MPI_Finalize() {
  std::printf("one_thread: %ld calls, %d threads\n", calls.load(std::memory_order_relaxed),
              threads());
  std::fflush(stdout);
  return next_of<decltype(&MPI_Finalize)>("MPI_Finalize")();
}

}  // extern "C"
