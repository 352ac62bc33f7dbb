#include "task/pool/registered_memory.hpp"

#include <photon/memory.h>

namespace photon::task {

namespace {

void* allocate(ph_context* lane, std::size_t size_bytes) noexcept {
  ph_region region{};
  if (ph_alloc(lane, size_bytes, &region) != PH_OK) return nullptr;
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(region.address));
}

}  // namespace

Piece ArenaShare::take(void* user, std::size_t size_bytes) noexcept {
  const ArenaShare& self = *static_cast<ArenaShare*>(user);
  if (self.lane_ != nullptr && self.arena_.reserve(size_bytes)) {
    if (void* base = allocate(self.lane_, size_bytes)) return {base, Origin::arena};
    self.arena_.release(size_bytes);
  }
  const Memory heap = heap_memory();
  return heap.take(heap.user, size_bytes);
}

// What a stopped peer still reads is the library's until the context is finalized.
void ArenaShare::give(void* user, const Piece& piece, std::size_t size_bytes) noexcept {
  const ArenaShare& self = *static_cast<ArenaShare*>(user);
  if (piece.origin == Origin::heap) {
    const Memory heap = heap_memory();
    return heap.give(heap.user, piece, size_bytes);
  }
  static_cast<void>(ph_free(self.lane_, piece.base));
  self.arena_.release(size_bytes);
}

}  // namespace photon::task
