// Vectored gets that the owner answers: questions, their order, refusals in the middle.
#include "posted_unit.hpp"
#include "vectored_unit.hpp"

namespace photon::engine::test {
namespace {

TEST(Gather, more_runs_than_one_question_holds_land_whole_each_in_its_place) {
  for (const std::uint64_t size : {1u, 17u, 60u}) {
    Two two;
    fill(two.memory.bytes(), size);
    std::vector<std::byte> own(1000 * size);
    Blocks blocks(two, own);
    for (std::uint64_t i = 0; i < 1000; ++i) blocks.add(i * size, i * i % 997 * (size + 3), size);
    ASSERT_EQ(two.ranks[0].vectored(1, blocks.get()), PH_OK);
    EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
    EXPECT_EQ(two.ranks.take(0, PH_LOCAL).status, PH_OK);
    EXPECT_TRUE(blocks.are_equal()) << size;
    expect_idle(two);
  }
}

TEST(Gather, several_and_plain_gets_share_the_way_in_order) {
  Two two;
  fill(two.memory.bytes(), 3);
  std::vector<std::byte> first(20000), second(20000), plain(500);
  Blocks one(two, first), two_blocks(two, second);
  one.add_many(400, 50, 1);
  two_blocks.add_many(300, 61, 2);
  ASSERT_EQ(two.ranks[0].vectored(1, one.get(PH_NO_RCE)), PH_OK);
  ASSERT_EQ(two.ranks[0].get(1, two.get(plain, PH_NO_RCE)), PH_OK);
  ASSERT_EQ(two.ranks[0].vectored(1, two_blocks.get(PH_NO_RCE)), PH_OK);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(two.ranks.take(0, PH_LOCAL).status, PH_OK);
  EXPECT_TRUE(one.are_equal());
  EXPECT_TRUE(two_blocks.are_equal());
  EXPECT_EQ(first_difference(plain, 3), plain.size());
  expect_idle(two);
}

TEST(Gather, a_run_that_is_refused_anywhere_fails_all_of_it_once) {
  for (const std::size_t wrong : {0u, 1u, 200u, 998u, 999u}) {
    SCOPED_TRACE(wrong);
    Two two(options(Reach::Kind::none, false));
    fill(two.memory.bytes(), 3);
    std::vector<std::byte> own(30000);
    Blocks blocks(two, own);
    blocks.add_many(1000, 30);
    blocks.get_segment(wrong).source.key ^= 1ull << 40;
    ASSERT_EQ(two.ranks[0].vectored(1, blocks.get()), PH_OK);
    const auto done = two.ranks.take(0, PH_LOCAL);
    EXPECT_EQ(done.status, PH_ERR_KEY);
    EXPECT_EQ(done.id, two.local_id);
    for (int i = 0; i < 100; ++i) two.ranks.turn();
    EXPECT_EQ(two.count(0, PH_LOCAL), 0u);
    EXPECT_EQ(two.count(1, PH_REMOTE), 0u);
    expect_idle(two);
    // What comes after it is not disturbed.
    Blocks good(two, own);
    good.add_many(1000, 30);
    ASSERT_EQ(two.ranks[0].vectored(1, good.get()), PH_OK);
    EXPECT_EQ(two.ranks.take(0, PH_LOCAL).status, PH_OK);
    EXPECT_TRUE(good.are_equal());
  }
}

// The owner has no room for answers at first: acknowledgements and the refusal of the first part
// wait for it, and so must the second part.
TEST(Gather, a_part_that_is_refused_is_told_before_the_next_one_is_answered) {
  Two two(options(Reach::Kind::none, false));
  fill(two.memory.bytes(), 3);
  std::vector<std::byte> here(64);
  const ph_region target = two.ranks.add(0, here);
  for (int i = 0; i < 64; ++i) {
    ph_put_args args =
        put_args(std::span(two.memory.data(), 8), ph_at(&target, 0), two.local_id, two.remote_id);
    args.flags = PH_NO_LCE | PH_NO_RCE;
    ASSERT_EQ(two.ranks[1].put(0, args), PH_OK);
  }
  for (int i = 0; i < 6; ++i)
    ASSERT_EQ(two.ranks[0].put(1, two.put({here.data(), 8}, PH_DELIVERED | PH_NO_RCE)), PH_OK);
  std::vector<std::byte> own(30000);
  Blocks blocks(two, own);
  for (std::uint64_t i = 0; i < 1000; ++i) blocks.add(i * 30, i * i % 997 * 33, 30);
  blocks.get_segment(0).source.key ^= 1ull << 40;
  ASSERT_EQ(two.ranks[0].vectored(1, blocks.get()), PH_OK);
  for (int i = 0; i < 3; ++i) two.count(1, PH_LOCAL);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(two.ranks.take(0, PH_LOCAL).status, PH_OK);
  EXPECT_EQ(two.ranks.take(0, PH_LOCAL).status, PH_ERR_KEY);
  for (int i = 0; i < 100; ++i) two.ranks.turn();
  expect_idle(two);
}

TEST(Gather, a_region_taken_back_while_it_is_answered_ends_it) {
  Two two;
  fill(two.memory.bytes(), 3);
  std::vector<std::byte> own(60000);
  Blocks blocks(two, own);
  blocks.add_many(1000, 55);
  ASSERT_EQ(two.ranks[0].vectored(1, blocks.get()), PH_OK);
  two.ranks[1].serve();  // some of it
  ASSERT_EQ(remove_region(two.ranks[1], two.region.key), PH_OK);
  EXPECT_EQ(two.ranks.take(0, PH_LOCAL).status, PH_ERR_KEY);
  for (int i = 0; i < 100; ++i) two.ranks.turn();
  expect_idle(two);
}

TEST(Gather, a_fence_behind_it_waits_for_all_of_it) {
  Two two;
  fill(two.memory.bytes(), 3);
  std::vector<std::byte> own(30000), after = filled(1000, 9);
  Blocks blocks(two, own);
  blocks.add_many(1000, 30);
  const std::vector<std::byte> before(two.memory.data(), two.memory.data() + 1000);
  ASSERT_EQ(two.ranks[0].vectored(1, blocks.get(PH_NO_RCE)), PH_OK);
  ASSERT_EQ(two.ranks[0].fence(1), PH_OK);
  ASSERT_EQ(two.ranks[0].put(1, two.put(after)), PH_OK);
  EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
  EXPECT_EQ(std::memcmp(two.memory.data(), after.data(), after.size()), 0);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const std::uint64_t place = i * 7 % 1000 * 38;
    if (place + 30 <= before.size()) {
      ASSERT_EQ(std::memcmp(own.data() + i * 30, before.data() + place, 30), 0) << i;
    }
  }
}

// NICs move it: block by block, and own memory is pinned block by block where a NIC wants that.
TEST(Gather, nics_move_blocks_one_by_one) {
  for (const std::uint64_t granule : {0u, 4096u}) {
    FakeOptions chosen = nics();
    chosen.local_granule = granule;
    Nics two(chosen);
    fill(two.memory.bytes(), 3);
    std::vector<std::byte> own(60000);
    Blocks blocks(two, own);
    blocks.add(0, 100, 5000).add(30000, 20000, 4300).add(50000, 9000, 4097);
    for (const bool is_get : {true, false}) {
      ASSERT_EQ(two.ranks[0].vectored(1, is_get ? blocks.get() : blocks.put()), PH_OK);
      two.serve();
      EXPECT_EQ(two.posted().size(), granule == 0 ? 6u : 2u) << "one block after the other";
      two.land_all();
      EXPECT_EQ(two.ranks.take(0, PH_LOCAL).status, PH_OK);
      EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
      EXPECT_TRUE(blocks.are_equal());
      std::fill(two.memory.bytes().begin(), two.memory.bytes().end(), std::byte{0});
    }
    expect_idle(two);
    EXPECT_EQ(two.ranks[0].resource_use().pins, 0u);
  }
}

// A put is announced by name only if nothing here can keep its pieces back.
TEST(Gather, pieces_are_named_if_all_of_the_source_is_pinned) {
  for (const bool registered : {true, false}) {
    FakeOptions chosen = nics();
    chosen.local_granule = 4096;
    Nics two(chosen);
    std::vector<std::byte> own = filled(60000, 3);
    if (registered) two.ranks.add(0, own);
    Blocks blocks(two, own);
    blocks.add(0, 100, 5000).add(30000, 20000, 4300);
    ASSERT_EQ(two.ranks[0].vectored(1, blocks.put()), PH_OK);
    two.serve();
    ASSERT_FALSE(two.posted().empty());
    EXPECT_EQ(two.posted().front().imm.has_value(), registered);
    two.land_all();
    EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
    EXPECT_TRUE(blocks.are_equal());
  }
}

TEST(Gather, a_piece_that_a_nic_refuses_fails_all_and_takes_the_id_along) {
  for (const bool is_get : {true, false}) {
    Nics two;
    std::vector<std::byte> own = filled(60000, 3);
    Blocks blocks(two, own);
    blocks.add(0, 100, 5000).add(30000, 20000, 4300);
    ASSERT_EQ(two.ranks[0].vectored(1, is_get ? blocks.get() : blocks.put()), PH_OK);
    two.serve();
    two.refuse(PH_ERR_ACCESS, 1);
    two.land_all();
    const auto done = two.ranks.take(0, PH_LOCAL);
    EXPECT_EQ(done.status, PH_ERR_ACCESS);
    for (int i = 0; i < 50; ++i) two.ranks.turn();
    EXPECT_EQ(two.count(1, PH_REMOTE), 0u);
    EXPECT_EQ(two.count(0, PH_LOCAL), 0u);
    expect_idle(two);
  }
}

}  // namespace
}  // namespace photon::engine::test
