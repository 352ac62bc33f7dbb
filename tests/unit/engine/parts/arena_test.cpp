// Pieces of a span: alignment, zeroing, merging on free, and limits.
#include "engine/parts/arena.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace photon::engine {
namespace {

constexpr std::size_t kSpan = 1 << 16;

struct Store {
  alignas(4096) std::byte bytes[kSpan] = {};
};

bool zeroed(const std::byte* base, std::size_t size) {
  return std::all_of(base, base + size, [](std::byte one) { return one == std::byte{0}; });
}

TEST(Arena, the_whole_span_can_be_taken_again_after_all_pieces_came_back) {
  auto store = std::make_unique<Store>();
  Arena arena({store->bytes, kSpan}, kSpan);
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::byte*> fragments;
    while (std::byte* piece = arena.take(1 + random() % 5000)) fragments.push_back(piece);
    EXPECT_GT(fragments.size(), 8u);
    std::shuffle(fragments.begin(), fragments.end(), random);
    for (std::byte* piece : fragments) arena.give(piece);
    std::byte* all = arena.take(kSpan);
    ASSERT_EQ(all, store->bytes) << "what came back was not merged";
    EXPECT_EQ(arena.take(1), nullptr);
    arena.give(all);
  }
}

TEST(Arena, pieces_are_aligned_zeroed_apart_and_large_ones_on_pages) {
  auto store = std::make_unique<Store>();
  Arena arena({store->bytes, kSpan}, kSpan);
  for (int round = 0; round < 3; ++round) {
    std::vector<std::pair<std::byte*, std::size_t>> fragments;
    for (const std::size_t size : {1ul, 63ul, 64ul, 65ul, 4095ul, 4096ul, 10000ul}) {
      std::byte* piece = arena.take(size);
      ASSERT_NE(piece, nullptr);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(piece) % 64, 0u);
      if (size >= 4096) {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(piece) % 4096, 0u);
      }
      EXPECT_TRUE(zeroed(piece, size)) << "round " << round;
      std::fill_n(piece, size, std::byte{0xff});
      for (const auto& [base, bytes] : fragments)
        EXPECT_TRUE(piece + size <= base || base + bytes <= piece);
      fragments.emplace_back(piece, size);
    }
    for (const auto& [base, bytes] : fragments) arena.give(base);
  }
}

TEST(Arena, too_much_is_refused_and_changes_nothing) {
  auto store = std::make_unique<Store>();
  Arena arena({store->bytes, kSpan}, kSpan);
  for (const std::size_t size : {kSpan + 1, SIZE_MAX, SIZE_MAX - 63, SIZE_MAX / 2})
    EXPECT_EQ(arena.take(size), nullptr);
  EXPECT_EQ(arena.take(kSpan), store->bytes);
}

TEST(Arena, without_a_span_it_gives_ordinary_memory_up_to_its_limit) {
  Arena arena({}, 1000);
  EXPECT_EQ(arena.size_bytes(), 1000u);
  std::byte* first = arena.take(500);
  ASSERT_NE(first, nullptr);
  EXPECT_TRUE(zeroed(first, 500));
  EXPECT_EQ(arena.take(500), nullptr) << "512 and 512 are more than the limit";
  arena.give(first);
  EXPECT_NE(arena.take(900), nullptr);  // never given back: the arena's destructor frees it
  EXPECT_EQ(arena.take(SIZE_MAX / 2), nullptr);
}

}  // namespace
}  // namespace photon::engine
