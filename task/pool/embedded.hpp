// Messages that lie in the body of another one: of a multiple send, and the original of a relay.
//
//   in the enclosing one -- embed() --> live, embedded -- the last part is freed --> the enclosing
//   block is free
//
// Invariant: a part has the 64 bytes in front of its body for itself, and these are a multiple of
// 64 behind the enclosing message's body. References are counted in the enclosing chunk alone.
// Owner: the holder of each part.
#pragma once

#include <cstdint>

#include "task/pool/layout.hpp"

namespace photon::task {

struct PartHeader {
  std::uint64_t size_bytes;  // of its body
  std::uint32_t handler;
  std::uint32_t source;  // PE
  Kind kind;
};

// At `offset_bytes` of the enclosing body, where 64 bytes become its chunk and its header. The
// enclosing one must have one reference for each part.
Message& embed(Message& enclosing, std::uint64_t offset_bytes, const PartHeader& header) noexcept;

}  // namespace photon::task
