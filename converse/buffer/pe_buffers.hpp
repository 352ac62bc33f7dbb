// What this layer has of each PE, from start_buffers() on.
// Owner: the Parts of a Pe. Threads: that of the PE.
#pragma once

#include "converse/buffer/live_buffers.hpp"

namespace photon::converse {

struct Buffers {
  LiveBuffers live;
  OverCounts over;                // operations that were begun here
  std::uint32_t done_number = 0;  // of the handler of dones
  std::uint32_t ack_number = 0;   // of that of acks
};

inline Buffers& buffers_of(Pe& pe) noexcept { return *static_cast<Buffers*>(pe.parts.buffers); }

}  // namespace photon::converse
