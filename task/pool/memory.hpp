// Where pools take their memory: two functions, so that slabs can come from ph_alloc(), from the
// heap, or from a test.
// Owner: whoever made it; it outlives the pools.
#pragma once

#include <cstddef>

namespace photon::task {

struct Memory {
  // At a multiple of 64; null: there is none.
  void* (*take)(void* user, std::size_t size_bytes) noexcept;
  void (*give)(void* user, void* base, std::size_t size_bytes) noexcept;
  void* user;
};

Memory heap_memory() noexcept;

}  // namespace photon::task
