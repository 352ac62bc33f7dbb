// A function of the program, of which it has made an operation, in one of the forms that MPI has.
// Owner: none. Threads: any that the function bears.
#pragma once

#include <cstddef>

#include "interop/mpi/real/real.hpp"

namespace photon::mpi {

struct UserFunction {
  MPI_User_function* small = nullptr;
#if MPI_VERSION >= 4
  MPI_User_function_c* large = nullptr;
#endif

  bool is_there() const noexcept {
#if MPI_VERSION >= 4
    if (large != nullptr) return true;
#endif
    return small != nullptr;
  }
  // MPI's functions take what they only read as if they wrote it. Before: an int holds the count.
  void call(const void* in, void* inout, std::size_t count, MPI_Datatype type) const {
    void* const source = const_cast<void*>(in);
#if MPI_VERSION >= 4
    if (auto length = static_cast<MPI_Count>(count); large != nullptr)
      return large(source, inout, &length, &type);
#endif
    int length = static_cast<int>(count);
    small(source, inout, &length, &type);
  }
};

}  // namespace photon::mpi
