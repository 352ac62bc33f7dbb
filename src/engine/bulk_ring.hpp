// Positions in a bulk ring, the same rule on both sides (docs/wire-format.md): chunks are whole
// 64-byte units and never cross the ring's end.
// Invariant: producer: freed <= tail <= freed + capacity. Owner: a Peer.
#pragma once

#include <cstdint>

namespace photon::engine {

// Where a chunk of `size` placed at or after `position` begins.
constexpr std::uint64_t bulk_begin(std::uint64_t position, std::uint64_t size,
                                   std::uint64_t capacity) noexcept {
  const std::uint64_t offset = position & (capacity - 1);
  return offset + size <= capacity ? position : position + (capacity - offset);
}
constexpr std::uint64_t bulk_end(std::uint64_t begin, std::uint64_t size) noexcept {
  return begin + ((size + 63) & ~std::uint64_t{63});
}

struct BulkProducer {
  std::byte* bytes = nullptr;
  std::uint64_t capacity = 0;
  std::uint64_t tail = 0;
  std::uint64_t freed = 0;

  bool fits(std::uint64_t size) const noexcept {
    return bulk_end(bulk_begin(tail, size, capacity), size) - freed <= capacity;
  }
  std::byte* place(std::uint64_t size) const noexcept {
    return bytes + (bulk_begin(tail, size, capacity) & (capacity - 1));
  }
  void advance(std::uint64_t size) noexcept {
    tail = bulk_end(bulk_begin(tail, size, capacity), size);
  }
};

struct BulkConsumer {
  const std::byte* bytes = nullptr;
  std::uint64_t capacity = 0;
  std::uint64_t head = 0;
  std::uint64_t published = 0;

  const std::byte* place(std::uint64_t size) const noexcept {
    return bytes + (bulk_begin(head, size, capacity) & (capacity - 1));
  }
  void advance(std::uint64_t size) noexcept {
    head = bulk_end(bulk_begin(head, size, capacity), size);
  }
};

}  // namespace photon::engine
