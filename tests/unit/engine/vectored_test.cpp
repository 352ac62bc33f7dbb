// Posting vectored operations: which way they go, and that one is one, whatever it consists of.
#include "vectored_unit.hpp"

namespace photon::engine::test {
namespace {

// How many records rank 0 has published to rank 1 in `post`.
template <class Post>
std::uint64_t lines_of(Two& two, Post post) {
  auto& lines = two.ranks.net().way(0, 1).lines;
  const auto tags = [&] {
    std::vector<std::uint64_t> all;
    for (auto& line : lines) all.push_back(line.head.load(std::memory_order_relaxed));
    return all;
  };
  const auto before = tags();
  post();
  const auto after = tags();
  std::uint64_t changed = 0;
  for (std::size_t i = 0; i < before.size(); ++i) changed += before[i] != after[i];
  return changed;
}

TEST(Vectored, small_segments_to_memory_out_of_reach_share_one_record) {
  Two two;
  std::vector<std::byte> own = filled(2000, 1);
  Blocks blocks(two, own);
  blocks.add_many(20, 16);
  EXPECT_EQ(lines_of(two, [&] { ASSERT_EQ(two.ranks[0].vectored(1, blocks.put()), PH_OK); }), 1u);
  EXPECT_EQ(two.count(0, PH_LOCAL), 1u) << "the source was copied";
  EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
  EXPECT_TRUE(blocks.are_equal());
  expect_idle(two);
}

TEST(Vectored, segments_of_mapped_memory_are_stored_at_the_call) {
  Two two(options(Reach::Kind::mapped));
  std::vector<std::byte> own = filled(2000, 1);
  Blocks blocks(two, own);
  blocks.add_many(20, 16);
  ASSERT_EQ(two.ranks[0].vectored(1, blocks.put(PH_DELIVERED)), PH_OK);
  EXPECT_TRUE(blocks.are_equal()) << "before the owner has made any progress";
  EXPECT_EQ(two.count(0, PH_LOCAL), 1u);
  EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
  std::fill(own.begin(), own.end(), std::byte{0});
  ASSERT_EQ(two.ranks[0].vectored(1, blocks.get()), PH_OK);
  EXPECT_EQ(two.count(0, PH_LOCAL), 1u);
  EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
  EXPECT_EQ(first_difference({own.data(), 320}, 1), 320u);
  expect_idle(two);
}

TEST(Vectored, segments_of_several_regions_each_go_under_their_own_key) {
  for (const auto reach : {Reach::Kind::none, Reach::Kind::mapped}) {
    Two two(options(reach));
    Guarded other(2000);
    const ph_region second = two.ranks.add(1, other.bytes());
    std::vector<std::byte> own = filled(2000, 1);
    Blocks blocks(two, own);
    blocks.add_many(20, 16);
    for (std::size_t i = 1; i < 20; i += 2) {
      blocks.put_segment(i).target = ph_at(&second, i * 30);
      blocks.get_segment(i).source = ph_at(&second, i * 30);
    }
    for (const bool is_get : {false, true}) {
      ASSERT_EQ(two.ranks[0].vectored(1, is_get ? blocks.get() : blocks.put()), PH_OK);
      EXPECT_EQ(two.ranks.take(0, PH_LOCAL).status, PH_OK);
      EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
      EXPECT_TRUE(blocks.are_equal());
    }
    EXPECT_TRUE(two.memory.guards_whole());
    EXPECT_TRUE(other.guards_whole());
    expect_idle(two);
  }
}

// More blocks than one call may copy: the rest goes with progress, and nothing twice.
TEST(Vectored, a_call_copies_a_bounded_part) {
  FakeOptions chosen = options(Reach::Kind::mapped);
  chosen.config.piece_bytes = 256;
  chosen.config.posted_piece_bytes = 256;
  Two two(chosen);
  std::vector<std::byte> own = filled(5000, 1);
  Blocks blocks(two, own);
  blocks.add_many(1000, 5, 3);
  ASSERT_EQ(two.ranks[0].vectored(1, blocks.put()), PH_OK);
  EXPECT_FALSE(blocks.are_equal());
  EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
  EXPECT_TRUE(blocks.are_equal());
  EXPECT_EQ(two.ranks.take(0, PH_LOCAL).id, two.local_id);
  expect_idle(two);
}

// Blocks that one call does not get through, so that what is left begins in the middle of one.
TEST(Vectored, what_loses_its_path_in_the_middle_goes_on_by_records) {
  for (const bool is_get : {false, true}) {
    for (const std::uint32_t flags : {0u, std::uint32_t{PH_ORDER_NONE}}) {
      SCOPED_TRACE(testing::Message() << (is_get ? "get, flags " : "put, flags ") << flags);
      FakeOptions chosen = options(Reach::Kind::mapped);
      chosen.config.piece_bytes = 500;
      Two two(chosen);
      std::vector<std::byte> own = filled(6000, 1);
      Blocks blocks(two, own);
      blocks.add_many(8, 700);
      if (is_get) fill(two.memory.bytes(), 3);
      ASSERT_EQ(two.ranks[0].vectored(1, is_get ? blocks.get(flags) : blocks.put(flags)), PH_OK);
      EXPECT_FALSE(blocks.are_equal()) << "all was copied before the path went";
      two.ranks.net().options.reach = Reach::Kind::none;
      EXPECT_EQ(two.ranks.take(0, PH_LOCAL).status, PH_OK);
      EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
      EXPECT_TRUE(blocks.are_equal());
      EXPECT_TRUE(two.memory.guards_whole());
      for (int i = 0; i < 50; ++i) two.ranks.turn();
      expect_idle(two);
    }
  }
}

TEST(Vectored, one_block_is_an_ordinary_put) {
  Two two;
  std::vector<std::byte> own = filled(100, 1);
  Blocks blocks(two, own);
  blocks.add(0, 0, 10).add(10, 10, 10).add(20, 20, 12).add(50, 0, 0);
  ASSERT_EQ(two.ranks[0].vectored(1, blocks.put()), PH_OK);
  EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
  EXPECT_TRUE(blocks.are_equal());
}

TEST(Vectored, a_request_stands_for_all_of_it) {
  Two two;
  std::vector<std::byte> own = filled(20000, 1);
  Blocks blocks(two, own);
  blocks.add_many(150, 100);
  ph_request request = PH_REQUEST_NONE;
  Vectored what = blocks.put();
  what.request = &request;
  ASSERT_EQ(two.ranks[0].vectored(1, what), PH_OK);
  ASSERT_NE(request, PH_REQUEST_NONE) << "more than the ring holds";
  ph_result result{};
  ASSERT_TRUE(two.ranks.eventually([&] { return two.ranks[0].test(request, result) == PH_OK; }));
  EXPECT_EQ(result.size_bytes, 15000u);
  EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
  EXPECT_TRUE(blocks.are_equal());
  EXPECT_EQ(two.count(0, PH_LOCAL), 0u);
  expect_idle(two);
}

TEST(Vectored, what_waits_behind_a_fence_can_be_cancelled_whole) {
  Two two(options(Reach::Kind::none));
  std::vector<std::byte> own = filled(2000, 1);
  ASSERT_EQ(two.ranks[0].put(1, two.put({own.data(), 100})), PH_OK);
  ASSERT_EQ(two.ranks[0].fence(1), PH_OK);
  for (const bool is_get : {false, true}) {
    Blocks blocks(two, own);
    for (std::uint64_t i = 0; i < 10; ++i) blocks.add(i * 20, 1000 + i * 40, 20);
    ph_request request = PH_REQUEST_NONE;
    Vectored what = is_get ? blocks.get() : blocks.put();
    what.request = &request;
    ASSERT_EQ(two.ranks[0].vectored(1, what), PH_OK);
    ph_outcome outcome{};
    ASSERT_EQ(two.ranks[0].cancel(request, outcome), PH_OK);
    EXPECT_EQ(outcome, PH_CANCELLED);
  }
  EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
  two.ranks.take(0, PH_LOCAL);
  for (int i = 0; i < 100; ++i) two.ranks.turn();
  EXPECT_EQ(two.count(1, PH_REMOTE), 0u);
  for (std::size_t i = 1000; i < 2000; ++i) ASSERT_EQ(two.memory.data()[i], std::byte{0});
  expect_idle(two);
}

TEST(Vectored, requests_at_their_limit_say_again_and_keep_nothing) {
  FakeOptions chosen = options();
  chosen.config.requests = 16;
  Two two(chosen);
  std::vector<std::byte> own = filled(20000, 1);
  Blocks blocks(two, own);
  blocks.add_many(150, 100);
  int accepted = 0;
  while (two.ranks[0].vectored(1, blocks.put()) == PH_OK) ++accepted;
  EXPECT_EQ(accepted, 16);
  EXPECT_EQ(two.ranks[0].vectored(1, blocks.get()), PH_AGAIN);
  for (int i = 0; i < accepted; ++i) {
    EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
    EXPECT_EQ(two.ranks.take(0, PH_LOCAL).status, PH_OK);
  }
  EXPECT_TRUE(blocks.are_equal());
  expect_idle(two);
}

TEST(Vectored, a_lost_peer_ends_it_with_one_error) {
  for (const bool is_get : {false, true}) {
    Two two;
    std::vector<std::byte> own = filled(40000, 1);
    Blocks blocks(two, own);
    blocks.add_many(1000, 30);
    ASSERT_EQ(two.ranks[0].vectored(1, is_get ? blocks.get() : blocks.put()), PH_OK);
    two.ranks.net().seats[0].gone[1] = {PH_ERR_PEER, 0, "gone", 1};
    const auto done = two.ranks.take(0, PH_LOCAL);
    EXPECT_EQ(done.status, PH_ERR_PEER);
    EXPECT_EQ(done.id, two.local_id);
    EXPECT_EQ(two.count(0, PH_LOCAL), 0u);
    EXPECT_EQ(two.ranks[0].resource_use().blocks, 0u);
  }
}

TEST(Vectored, flags_of_the_other_direction_are_refused) {
  Two two;
  std::vector<std::byte> own(100);
  Blocks blocks(two, own);
  blocks.add(0, 0, 10).add(20, 50, 10);
  EXPECT_EQ(two.ranks[0].vectored(1, blocks.put(PH_NOTICE_ACCEPTED)), PH_ERR_ARGUMENT);
  EXPECT_EQ(two.ranks[0].vectored(1, blocks.get(PH_DELIVERED)), PH_ERR_ARGUMENT);
  EXPECT_EQ(two.ranks[0].vectored(9, blocks.get()), PH_ERR_RANK);
}

}  // namespace
}  // namespace photon::engine::test
