// The operations on a window: each is over when it returns (docs/mpi.md, "Ways" and "Atomicity of
// accumulates").
//
// An operation that gives an error has changed nothing, unless the words say that its target has
// ended. Owner: none. Threads: any, each call under its target's guard.
#pragma once

#include <cstddef>
#include <cstdint>

#include "interop/mpi/window/window.hpp"

namespace photon::mpi {

// Accumulates of so many bytes, or more, are done by plain loops, alone.
inline constexpr std::size_t kBulkBytes = 1 << 10;

// Memory of the caller: so many elements of a type.
struct Buffer {
  void* memory = nullptr;
  std::int64_t count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

// This is a place in the memory of a member, from a displacement in its units on.
struct Spot {
  int rank = 0;
  std::int64_t displacement = 0;
  std::int64_t count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

Outcome put(Window& window, const Buffer& origin, const Spot& spot) noexcept;
Outcome get(Window& window, const Buffer& origin, const Spot& spot) noexcept;
// `result` may be null: MPI_Accumulate. Of MPI_NO_OP `origin` is not looked at.
Outcome accumulate(Window& window, const Buffer& origin, const Buffer* result, const Spot& spot,
                   MPI_Op op) noexcept;
// One element of the spot's type; if it has the bytes of `compare`, those of `origin` replace it.
Outcome compare_and_swap(Window& window, const void* origin, const void* compare, void* result,
                         const Spot& spot) noexcept;

}  // namespace photon::mpi
