// What MPI alone knows of a type, from what its MPI_Pack does: a buffer that holds its own offsets
// is packed, one byte of them a pass, and what comes out says where each byte of the type lies.
// Owner: none (a function). Threads: any.
#pragma once

#include <cstddef>

#include "interop/mpi/real/real.hpp"
#include "interop/mpi/type/layout_builder.hpp"

namespace photon::mpi {

// Of a type and of what it spans.
inline constexpr std::size_t kMostPackedBytes = std::size_t{256} << 20;

// Its runs. Throws Refused: it is too large, or MPI refuses it.
void append_packed(MPI_Datatype type, LayoutBuilder& layout);

}  // namespace photon::mpi
