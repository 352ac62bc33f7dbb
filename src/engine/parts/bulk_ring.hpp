// The two ends of a bulk ring; where chunks stand is the wire's rule (wire/bulk_place.hpp).
// Invariant: producer: freed <= tail <= freed + capacity. Owner: a Peer.
#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/bulk_place.hpp"

namespace photon::engine {

using wire::bulk_begin;
using wire::bulk_end;

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
  std::uint64_t lent_from = ~std::uint64_t{0};  // what is not to be given back begins there

  // Up to where its room may be used again.
  std::uint64_t free_end() const noexcept { return head < lent_from ? head : lent_from; }
  std::uint64_t owed() const noexcept { return free_end() - published; }
  const std::byte* place(std::uint64_t size) const noexcept {
    return bytes + (bulk_begin(head, size, capacity) & (capacity - 1));
  }
  void advance(std::uint64_t size) noexcept {
    head = bulk_end(bulk_begin(head, size, capacity), size);
  }
};

}  // namespace photon::engine
