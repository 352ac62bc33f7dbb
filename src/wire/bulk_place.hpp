// Positions in a bulk ring, the same rule for all who write, carry or read it
// (docs/wire-format.md): chunks are whole 64-byte units and never cross the ring's end.
// Owner: none (values).
#pragma once

#include <cstdint>

namespace photon::wire {

// Where a chunk of `size_bytes` placed at or after `position` begins; the ring's size is a power of
// two.
constexpr std::uint64_t bulk_begin(std::uint64_t position, std::uint64_t size_bytes,
                                   std::uint64_t ring_bytes) noexcept {
  const std::uint64_t offset = position & (ring_bytes - 1);
  return offset + size_bytes <= ring_bytes ? position : position + (ring_bytes - offset);
}
constexpr std::uint64_t bulk_end(std::uint64_t begin, std::uint64_t size_bytes) noexcept {
  return begin + ((size_bytes + 63) & ~std::uint64_t{63});
}

}  // namespace photon::wire
