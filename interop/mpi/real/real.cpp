#include "interop/mpi/real/real.hpp"

#include <dlfcn.h>

#include <cstring>

namespace photon::mpi {

namespace {

enum class Abi { none, mpich, openmpi, standard };

#ifdef OPEN_MPI
constexpr Abi kOwn = Abi::openmpi;
constexpr const char* kLibraries[] = {"libmpi.so.40", "libmpi.so", "libmpich.so.12", "libmpi.so.12",
                                      "libmpi_abi.so.1"};
#elif defined(PHOTON_MPI_STANDARD_ABI)
constexpr Abi kOwn = Abi::standard;
constexpr const char* kLibraries[] = {"libmpi_abi.so.1", "libmpi_abi.so", "libmpich.so.12",
                                      "libmpi.so.12",    "libmpi.so.40",  "libmpi.so"};
#else
constexpr Abi kOwn = Abi::mpich;
constexpr const char* kLibraries[] = {"libmpich.so.12", "libmpi.so.12", "libmpi.so", "libmpi.so.40",
                                      "libmpi_abi.so.1"};
#endif

// This looks in a library that the program has loaded apart, as a plug-in has its MPI. It is loaded
// or not at all, and stays as long as the program keeps it. It may be of another ABI.
void* in_libraries(const char* name) noexcept {
  for (const char* library : kLibraries) {
    void* const handle = ::dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    void* const found = ::dlsym(handle, name);
    ::dlclose(handle);
    if (found != nullptr) return found;
  }
  return nullptr;
}

Real look_up() noexcept {
  Real real;
#define PHOTON_MPI_FIND(name) \
  real.name = reinterpret_cast<decltype(real.name)>(symbol_of("PMPI_" #name));
  PHOTON_MPI_REAL(PHOTON_MPI_FIND)
#undef PHOTON_MPI_FIND
  return real;
}

// The functions of an MPI for the standard's ABI have the names of all others, and some of these
// libraries bring their makers' own symbols along. What tells is the name that the standard gives
// the file. The function is none that tools stand before.
Abi loaded_abi() noexcept {
  void* const function = symbol_of("PMPI_Get_version");
  if (function == nullptr) return Abi::none;
  Dl_info found{};
  if (::dladdr(function, &found) != 0 && found.dli_fname != nullptr &&
      std::strstr(found.dli_fname, "libmpi_abi.so") != nullptr)
    return Abi::standard;
  return symbol_of("ompi_mpi_comm_world") != nullptr ? Abi::openmpi : Abi::mpich;
}

}  // namespace

void* symbol_of(const char* name) noexcept {
  void* const found = ::dlsym(RTLD_DEFAULT, name);
  return found != nullptr ? found : in_libraries(name);
}

void* next_symbol(const char* name) noexcept {
  void* const found = ::dlsym(RTLD_NEXT, name);
  return found != nullptr ? found : in_libraries(name);
}

const Real& real() noexcept {
  static const Real found = look_up();
  return found;
}

bool is_our_abi() noexcept { return loaded_abi() == kOwn; }

}  // namespace photon::mpi
