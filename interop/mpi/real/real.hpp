// The MPI that the program runs with. It is looked up among what is loaded, when it is first asked
// for: this library links no MPI, so it can stand before programs that have none, or another.
//
// mpi.h is included through this header alone: Open MPI's handles are addresses of its symbols, and
// here they are looked up as its functions are.
// Owner: the process, which has one MPI. Threads: any.
#pragma once

#include <mpi.h>

#include "interop/mpi/real/calls.hpp"

namespace photon::mpi {

// This looks a symbol of the loaded MPI up. Null says that it has no such symbol, or that no MPI is
// loaded yet.
void* symbol_of(const char* name) noexcept;
// This looks one up in what stands behind this library in the order of the program's look-ups:
// other tools, and MPI at last.
void* next_symbol(const char* name) noexcept;

struct Real {
#define PHOTON_MPI_DECLARE(name) decltype(&PMPI_##name) name = nullptr;
  PHOTON_MPI_REAL(PHOTON_MPI_DECLARE)
#undef PHOTON_MPI_DECLARE
};

// Whole when MPI is loaded; the caller has made sure of that.
const Real& real() noexcept;

// This tells whether the loaded MPI has the ABI that this library was built for. It is false where
// no MPI is loaded.
bool is_our_abi() noexcept;

}  // namespace photon::mpi

#ifdef OPEN_MPI
#undef OMPI_PREDEFINED_GLOBAL
// Looked up once at each place that names the handle.
#define OMPI_PREDEFINED_GLOBAL(type, global)                      \
  ([]() noexcept {                                                \
    static void* const found = ::photon::mpi::symbol_of(#global); \
    return static_cast<type>(found);                              \
  }())
#endif
