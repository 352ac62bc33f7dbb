// Where pools take their memory: two functions, so that slabs can come from ph_alloc()
// (registered_memory.hpp), from the heap, or from a test. Owner: whoever made it; it outlives the
// pools.
#pragma once

#include <cstddef>
#include <cstdint>

namespace photon::task {

enum class Origin : std::uint8_t { heap, arena };

struct Piece {
  void* base;  // at a multiple of 64; null: there is none
  Origin origin;
};

struct Memory {
  Piece (*take)(void* user, std::size_t size_bytes) noexcept;
  void (*give)(void* user, const Piece& piece, std::size_t size_bytes) noexcept;
  void* user;
};

Memory heap_memory() noexcept;

}  // namespace photon::task
