// What the messages of the lane of active messages say. Owner: none.
#pragma once

#include <photon/photon.h>

#include <cstddef>
#include <cstdint>

#include "interop/mpi/message/circle.hpp"

namespace photon::mpi {

// Numbers of handlers on the lane: messages of the program, and news of them for their senders.
inline constexpr std::uint32_t kMessage = 1;
inline constexpr std::uint32_t kNews = 2;

// In front of the immediate data.
struct Head {
  std::uint64_t circle = 0;
  std::int32_t id = 0;
  std::int32_t source = 0;  // in the circle
  std::uint64_t unused[2] = {};
};
static_assert(sizeof(Head) + MPIX_AM_IMMEDIATE_BYTES == PH_AM_HEADER_BYTES);

struct News {
  std::uint64_t circle = 0;
  Fault fault = Fault::none;
  std::uint32_t unused = 0;
};

}  // namespace photon::mpi
