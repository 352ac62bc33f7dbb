// Puts that are over when they return: when they may be, and that they leave nothing under way.
#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

TEST(PutNow, a_put_with_room_and_credit_is_complete_at_once_by_each_way) {
  for (const auto reach : {Reach::Kind::none, Reach::Kind::mapped}) {
    for (const std::size_t size : {0ul, 8ul, 33ul, 192ul, 193ul, 1000ul, 4096ul}) {
      if (reach == Reach::Kind::none && size > 1024) continue;                // half a chunk
      for (const std::uint32_t flags : {0u, std::uint32_t{PH_ORDER_NONE}}) {  // short way, long way
        Two two(options(reach));
        const auto source = filled(size, 6);
        ASSERT_EQ(two.ranks[0].put(1, two.put(source, flags)), PH_OK);
        const ph_completion local = two.ranks.take(0, PH_LOCAL);
        EXPECT_EQ(local.id, two.local_id) << size;
        EXPECT_EQ(local.outstanding, 0u) << "nothing is left under way for " << size << " bytes";
        EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
        EXPECT_EQ(first_difference(two.memory.bytes().first(size), 6), size);
      }
    }
  }
}

// What packed_max promises holds for mapped memory as well.
TEST(PutNow, a_small_put_to_mapped_memory_that_has_to_wait_keeps_its_bytes) {
  for (const std::size_t size : {33ul, 192ul}) {
    Two two(options(Reach::Kind::mapped));
    std::vector<std::byte> source(size);
    constexpr std::uint64_t kPuts = 10;  // more than the ledger takes
    for (std::uint64_t i = 0; i < kPuts; ++i) {
      fill(source, i);
      auto put = two.put(source);
      put.target = ph_at(&two.region, i * size);
      ASSERT_EQ(two.ranks[0].put(1, put), PH_OK);
      std::fill(source.begin(), source.end(), std::byte{0xee});
    }
    for (std::uint64_t i = 0; i < kPuts; ++i) {
      EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
      EXPECT_EQ(first_difference(two.memory.bytes().subspan(i * size, size), i), size) << i;
    }
  }
}

TEST(PutNow, a_put_behind_one_without_credit_does_not_overtake_it) {
  Two two;
  std::uint64_t posted = 0;
  // More ids than any ledger of these tests holds: the last ones queue.
  for (; posted < 40; ++posted)
    ASSERT_EQ(two.ranks[0].put_u64(1, {&posted, 8}, ph_at(&two.region, 0), {posted, posted}),
              PH_OK);
  for (std::uint64_t id = 0; id < posted; ++id) EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, id);
}

// ph_put_u64() of a direct put has a quick way of its own.
TEST(PutNow, a_direct_put_with_word_ids_is_complete_at_once_in_one_line) {
  for (const std::size_t size : {33ul, 192ul, 193ul, 4096ul, 4097ul, 65536ul}) {
    FakeOptions chosen = options(Reach::Kind::mapped);
    chosen.config.piece_bytes = 64 << 10;
    Two two(chosen);
    for (std::uint64_t i = 1; i <= 5; ++i) {
      const auto source = filled(size, i);
      ASSERT_EQ(two.ranks[0].put_u64(1, {source.data(), size}, ph_at(&two.region, 0), {i, i + 100}),
                PH_OK);
      EXPECT_EQ(first_difference(two.memory.bytes().first(size), i), size) << "before any probe";
      const ph_completion local = two.ranks.take(0, PH_LOCAL);
      EXPECT_EQ(local.id, i);
      EXPECT_EQ(local.outstanding, 0u);
      EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, i + 100);
      const auto& line = two.ranks.link(0, 1).tx_lines[i];  // line 0 was the meeting
      EXPECT_EQ(wire::decode(line.tag_word() & ~0xffffull)->payload_bytes, 0u);
    }
    // Landed: a fence has nothing to wait for, and sends nothing.
    EXPECT_EQ(two.ranks[0].fence(1), PH_OK);
    EXPECT_EQ(two.ranks.link(0, 1).tx_lines[6].tag_word(), 0u);
  }
}

TEST(PutNow, a_direct_put_with_word_ids_that_may_not_is_refused_as_any_other) {
  Two two(options(Reach::Kind::mapped));
  const auto source = filled(8192, 1);
  auto& engine = two.ranks[0];
  const auto put = [&](const void* from, ph_target target) {
    return engine.put_u64(1, {from, 8192}, target, {1, 2});
  };
  const ph_target good = ph_at(&two.region, 0);
  EXPECT_EQ(put(nullptr, good), PH_ERR_ARGUMENT);
  EXPECT_EQ(put(source.data(), {good.address + two.region.size_bytes - 8191, good.key}),
            PH_ERR_RANGE);
  EXPECT_EQ(put(source.data(), {good.address, good.key ^ 1ull << 50}), PH_ERR_KEY);
  EXPECT_NE(engine.last_error().what.find("put of 8192 bytes"), std::string::npos);
  ASSERT_EQ(remove_region(two.ranks[1], two.region.key), PH_OK);
  EXPECT_EQ(put(source.data(), good), PH_ERR_KEY);
  EXPECT_TRUE(two.memory.untouched());
  EXPECT_EQ(two.count(0, PH_LOCAL) + two.count(1, PH_REMOTE), 0u);
}

TEST(PutNow, direct_puts_with_word_ids_stop_at_the_limit_of_requests_and_keep_their_order) {
  Two two(options(Reach::Kind::mapped));
  const auto source = filled(4096, 1);
  std::uint64_t accepted = 0;
  const auto put = [&] {
    return two.ranks[0].put_u64(1, {source.data(), source.size()}, ph_at(&two.region, 0),
                                {accepted, accepted});
  };
  while (put() == PH_OK) ASSERT_LE(++accepted, 1000u);
  EXPECT_GT(accepted, 10u);
  for (std::uint64_t id = 0; id < accepted; ++id) {
    EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, id);
    EXPECT_EQ(two.ranks.take(0, PH_LOCAL).id, id);
  }
  EXPECT_EQ(put(), PH_OK);
}

// By both sides or by the kernel: the engine tries both and goes on with one.
TEST(PutNow, large_puts_to_memory_that_the_kernel_reaches_land_whichever_way_they_go) {
  Two two(options(Reach::Kind::call));
  two.ranks[0].start_counting(true);
  std::uint64_t posted = 0;
  for (; posted < 12; ++posted) {
    const auto source = filled(64 << 10, posted + 1);
    const auto put = put_args(source, ph_at(&two.region, 0), posted, posted);
    ASSERT_EQ(two.ranks[0].put(1, put), PH_OK);
    EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, posted);
    EXPECT_EQ(first_difference(two.memory.bytes(), posted + 1), source.size());
    EXPECT_EQ(two.ranks.take(0, PH_LOCAL).id, posted);
  }
  std::vector<NamedCount> found;
  ASSERT_EQ(two.ranks[0].counters(1, found), PH_OK);
  for (const NamedCount& one : found) {
    const std::string name = one.text.name;
    if (name == "kernel_bytes" || name == "staged_bytes") {
      EXPECT_GT(one.value, 0u) << name;
    }
  }
}

TEST(PutNow, a_put_that_the_kernel_refuses_in_the_middle_goes_on_by_both_sides) {
  Two two(options(Reach::Kind::call));
  auto& seat = two.ranks.net().seats[0];
  seat.writes_left = 5;  // of the 16 pieces of one put
  for (std::uint64_t id = 0; id < 40; ++id) {
    const auto source = filled(64 << 10, id + 1);
    ASSERT_EQ(two.ranks[0].put(1, put_args(source, ph_at(&two.region, 0), id, id)), PH_OK);
    const ph_completion remote = two.ranks.take(1, PH_REMOTE);
    EXPECT_EQ(remote.id, id);
    EXPECT_EQ(first_difference(two.memory.bytes(), id + 1), source.size()) << id;
    const ph_completion local = two.ranks.take(0, PH_LOCAL);
    EXPECT_EQ(local.id, id);
    EXPECT_EQ(local.status, PH_OK);
  }
  EXPECT_EQ(seat.writes_left, 0u);
  EXPECT_EQ(seat.calls_count, 6u) << "it was not asked again";
}

}  // namespace
}  // namespace photon::engine::test
