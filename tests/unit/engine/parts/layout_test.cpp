// Runs: how blocks are joined, and that walking, packing and cutting them loses no byte.
#include "engine/parts/layout.hpp"

#include <gtest/gtest.h>

#include <random>

namespace photon::engine {
namespace {

constexpr std::uint64_t kTop = ~std::uint64_t{0};

std::byte* own_at(std::vector<std::byte>& memory, std::size_t at) { return memory.data() + at; }

TEST(Extent, is_the_smallest_range_around_all_blocks) {
  const auto some = wire::extent_of(1000, 10, 5, 100);
  ASSERT_TRUE(some);
  EXPECT_EQ(some->address, 1000u);
  EXPECT_EQ(some->size_bytes, 410u);
  const auto back = wire::extent_of(1000, 10, 5, -100);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->address, 600u);
  EXPECT_EQ(back->size_bytes, 410u);
  EXPECT_EQ(wire::extent_of(1000, 10, 5, 0)->size_bytes, 10u);
}

TEST(Extent, what_leaves_the_address_space_has_none) {
  EXPECT_FALSE(wire::extent_of(kTop - 5, 10, 1, 0));
  EXPECT_FALSE(wire::extent_of(100, 10, 3, -60));
  EXPECT_FALSE(wire::extent_of(100, 10, kTop, 1));
  EXPECT_FALSE(wire::extent_of(100, 10, 3, INT64_MAX));
  EXPECT_FALSE(wire::extent_of(100, kTop - 50, 2, 1));
  EXPECT_TRUE(wire::extent_of(100, 10, 3, -50));
  EXPECT_FALSE(wire::extent_of(wire::Run{kTop, 1, UINT32_MAX, UINT32_MAX, INT64_MIN}));
}

TEST(Layout, blocks_that_touch_on_both_sides_become_one) {
  std::vector<std::byte> memory(100);
  Layout layout;
  layout.add_block(own_at(memory, 0), {1000, 7}, 10);
  layout.add_block(own_at(memory, 10), {1010, 7}, 20);
  layout.add_block(own_at(memory, 30), {1030, 7}, 5);
  EXPECT_TRUE(layout.is_plain());
  EXPECT_EQ(layout.size_bytes(), 35u);
  ASSERT_EQ(layout.runs().size(), 1u);
  EXPECT_EQ(layout.runs()[0].size_bytes, 35u);
  layout.add_block(own_at(memory, 35), {1035, 8}, 5);  // another region
  EXPECT_EQ(layout.runs().size(), 2u);
}

TEST(Layout, equal_blocks_at_equal_distances_become_one_run) {
  std::vector<std::byte> memory(4000);
  Layout layout;
  for (std::uint64_t i = 0; i < 40; ++i)
    layout.add_block(own_at(memory, i * 64), {90000 - i * 100, 7}, 16);
  ASSERT_EQ(layout.runs().size(), 1u);
  EXPECT_EQ(layout.runs()[0].count, 40u);
  EXPECT_EQ(layout.runs()[0].stride, -100);
  EXPECT_EQ(layout.runs()[0].own_stride, 64);
  layout.add_block(own_at(memory, 40 * 64), {90000 - 40 * 100, 7}, 8);  // of another size
  layout.add_block(own_at(memory, 41 * 64), {90000 - 41 * 100, 7}, 8);
  layout.add_block(own_at(memory, 42 * 64), {95000, 7}, 8);  // at another distance
  EXPECT_EQ(layout.runs().size(), 3u);
  EXPECT_EQ(layout.blocks(), 43u);
  EXPECT_EQ(layout.size_bytes(), 40u * 16 + 24);
  EXPECT_EQ(layout.fragments(5), 40u * 4 + 6);
}

TEST(Layout, a_run_never_leaves_the_address_space) {
  std::vector<std::byte> memory(100);
  Layout layout;
  for (const std::uint64_t address : {kTop - 200, kTop - 100, std::uint64_t{0}})
    layout.add_block(own_at(memory, 0), {address, 7}, 50);
  EXPECT_EQ(layout.runs().size(), 2u) << "the third would follow at the same distance";
  for (const auto& run : layout.runs())
    EXPECT_TRUE(wire::extent_of(run.at.address, run.size_bytes, run.count, run.stride));
}

TEST(Layout, own_memory_is_within_a_range_if_all_blocks_are) {
  std::vector<std::byte> memory(1000);
  const auto begin = reinterpret_cast<std::uint64_t>(memory.data());
  Layout layout;
  layout.add({own_at(memory, 900), -100, {5000, 1}, 10, 10, 9});
  EXPECT_TRUE(layout.is_within(begin + 100, begin + 910));
  EXPECT_FALSE(layout.is_within(begin + 101, begin + 910));
  EXPECT_FALSE(layout.is_within(begin + 100, begin + 909));
}

// A layout of many forms over `memory`, whose peer's side is `there`.
struct Drawn {
  explicit Drawn(std::uint64_t seed) : memory(60000), there(60000), random(seed) {
    for (auto& byte : memory) byte = static_cast<std::byte>(random());
    std::uint64_t at = 0;
    for (int i = 0; i < 30; ++i) {
      const std::uint64_t size = 1 + random() % (random() % 4 == 0 ? 1000 : 40);
      at += random() % 3 * 8;
      layout.add_block(own_at(memory, at), {place(at), 1 + random() % 2}, size);
      at += size;
    }
    layout.add({own_at(memory, at), 30, {place(at), 9}, 30, 17, 50});
  }
  std::uint64_t place(std::uint64_t at) {
    return reinterpret_cast<std::uint64_t>(there.data()) + at;
  }

  std::vector<std::byte> memory;
  std::vector<std::byte> there;
  std::mt19937_64 random;
  Layout layout;
};

// As a target does.
void scatter(const Layout::Chunk& chunk, const std::vector<std::byte>& ring) {
  const std::byte* data = ring.data() + chunk.runs * wire::kRunBytes;
  for (std::uint64_t i = 0; i < chunk.runs; ++i) {
    wire::Run run;
    std::memcpy(&run, ring.data() + i * wire::kRunBytes, sizeof run);
    for (std::uint32_t block = 0; block < run.count; ++block, data += run.size_bytes)
      std::memcpy(reinterpret_cast<void*>(run.address + block * run.stride_bytes), data,
                  run.size_bytes);
  }
  EXPECT_EQ(data, ring.data() + chunk.ring_bytes);
}

TEST(Layout, chunks_of_any_size_carry_every_byte_to_its_place_once) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Drawn drawn(seed);
    std::uint64_t moved = 0;
    while (!drawn.layout.is_end(drawn.layout.next)) {
      const std::uint64_t ring_bytes = 64 + drawn.random() % 3000;
      const std::uint64_t data_bytes = 1 + drawn.random() % 2000;
      const auto chunk = drawn.layout.measure(data_bytes, ring_bytes);
      ASSERT_GT(chunk.runs, 0u);
      ASSERT_LE(chunk.ring_bytes, ring_bytes);
      ASSERT_LE(chunk.data_bytes, data_bytes);
      std::vector<std::byte> ring(chunk.ring_bytes);
      drawn.layout.pack(chunk, ring.data());
      scatter(chunk, ring);
      moved += chunk.data_bytes;
    }
    ASSERT_EQ(moved, drawn.layout.size_bytes());
    for (const auto& run : drawn.layout.runs())
      for (std::uint64_t i = 0; i < run.count; ++i)
        ASSERT_EQ(
            std::memcmp(run.own_block(i), reinterpret_cast<void*>(run.at.address + i * run.stride),
                        run.size_bytes),
            0);
  }
}

TEST(Layout, bytes_that_arrive_in_any_portions_are_unpacked_in_order) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Drawn drawn(seed);
    std::vector<std::byte> stream(drawn.layout.size_bytes());
    for (auto& byte : stream) byte = static_cast<std::byte>(drawn.random());
    for (std::uint64_t at = 0; at < stream.size();) {
      const std::uint64_t bytes = std::min(1 + drawn.random() % 700, stream.size() - at);
      drawn.layout.unpack(stream.data() + at, bytes);
      at += bytes;
    }
    EXPECT_TRUE(drawn.layout.is_end(drawn.layout.landing));
    const std::byte* from = stream.data();
    for (const auto& run : drawn.layout.runs())
      for (std::uint64_t i = 0; i < run.count; ++i, from += run.size_bytes)
        ASSERT_EQ(std::memcmp(run.own_block(i), from, run.size_bytes), 0);
  }
}

TEST(LayoutPool, lends_each_to_one_at_a_time_and_empty) {
  LayoutPool pool;
  std::byte byte{};
  {
    LayoutLease one(pool);
    LayoutLease two(pool);
    EXPECT_NE(&*one, &*two);
    one->add_block(&byte, {1, 1}, 1);
    EXPECT_EQ(pool.used(), 2u);
  }
  EXPECT_EQ(pool.used(), 0u);
  LayoutLease again(pool);
  EXPECT_EQ(again->size_bytes(), 0u);
  EXPECT_TRUE(again->runs().empty());
  Layout* kept = again.release();
  EXPECT_EQ(pool.used(), 1u);
  pool.give(*kept);
}

}  // namespace
}  // namespace photon::engine
