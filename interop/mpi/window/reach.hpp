// The operations share this: where a spot is, and how bytes of a target that this process cannot
// reach itself are read and written.
// Owner: the stack of one operation. Threads: that one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "interop/mpi/type/walk.hpp"
#include "interop/mpi/window/operations.hpp"

namespace photon::mpi {

inline constexpr Outcome kNoWay{MPI_ERR_OTHER,
                                "the memory of a target cannot be reached any more; it may have "
                                "ended"};
inline constexpr Outcome kUneven{MPI_ERR_TYPE,
                                 "the types of origin and target do not hold the same data"};

// Finds the layout of so many elements. They are good until the type is freed.
Outcome describe(Job& job, std::int64_t count, MPI_Datatype type, Elements& elements) noexcept;

// A spot that was looked at: all its bytes lie in the memory of the target. `offset` is that of its
// displacement, in bytes; no bytes: 0.
struct Area {
  Target* target = nullptr;
  std::int64_t offset = 0;
  Elements elements{};
};
Outcome find(Window& window, const Spot& spot, Area& area) noexcept;

// Bytes of a target whose memory the kernel copies, from `offset` on. False: it refuses.
bool read_copied(Job& job, const Target& target, std::int64_t offset, void* to,
                 std::size_t bytes) noexcept;
bool write_copied(Job& job, const Target& target, std::int64_t offset, const void* from,
                  std::size_t bytes) noexcept;

}  // namespace photon::mpi
