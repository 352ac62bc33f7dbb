#include "interop/mpi/real/real.hpp"

#include <dlfcn.h>

namespace photon::mpi {

namespace {

#ifdef OPEN_MPI
constexpr const char* kOwnSymbol = "ompi_mpi_comm_world";
constexpr const char* kForeignSymbol = "MPIR_Version_device";
constexpr const char* kLibraries[] = {"libmpi.so.40", "libmpi.so", "libmpich.so.12",
                                      "libmpi.so.12"};
#else
constexpr const char* kOwnSymbol = "PMPI_Win_create";
constexpr const char* kForeignSymbol = "ompi_mpi_comm_world";
constexpr const char* kLibraries[] = {"libmpich.so.12", "libmpi.so.12", "libmpi.so",
                                      "libmpi.so.40"};
#endif

// This looks in a library that the program has loaded apart, as a plug-in has its MPI. It is loaded
// or not at all, and stays as long as the program keeps it. It may be of the other ABI.
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

bool is_our_abi() noexcept {
  return symbol_of(kOwnSymbol) != nullptr && symbol_of(kForeignSymbol) == nullptr;
}

}  // namespace photon::mpi
