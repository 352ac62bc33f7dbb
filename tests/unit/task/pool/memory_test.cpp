#include "task/pool/memory.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace photon::task {
namespace {

TEST(TaskMemory, the_heap_gives_whole_lines) {
  const Memory heap = heap_memory();
  for (const std::size_t bytes : {1UL, 64UL, 1000000UL}) {
    const Piece piece = heap.take(heap.user, bytes);
    ASSERT_NE(piece.base, nullptr);
    EXPECT_EQ(piece.origin, Origin::heap);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(piece.base) % 64, 0u);
    heap.give(heap.user, piece, bytes);
  }
}

}  // namespace
}  // namespace photon::task
