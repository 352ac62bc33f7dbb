// The allocator of a runtime as the backend meets it: a header of its own in front of each message.
// The place of registered memory in it stays empty, for the backend's malloc() gives none.
// Owner: a test program. Threads: any.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace photon::test {

struct alignas(16) Chunk {
  int size_bytes;
  void* mr;
  std::atomic<int> references;
};

inline std::atomic<long> chunks_alive{0};
inline bool is_counting = true;  // set before the first; off where it would be measured

inline void* allocate_chunk(int size_bytes) {
  void* const memory = std::malloc(sizeof(Chunk) + static_cast<std::size_t>(size_bytes));
  if (memory == nullptr) std::abort();
  if (is_counting) ++chunks_alive;
  return new (memory) Chunk{size_bytes, nullptr, {1}} + 1;
}

inline void free_chunk(void* message) {
  Chunk* const chunk = static_cast<Chunk*>(message) - 1;
  if (chunk->references.fetch_sub(1) != 1) return;
  if (is_counting) --chunks_alive;
  std::free(chunk);
}

}  // namespace photon::test
