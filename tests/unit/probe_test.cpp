// Which completions a probe takes, from whom, and in which order.
#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

TEST(Probe, capacity_0_makes_progress_and_takes_nothing) {
  Two two;
  const auto source = filled(100, 2);
  ASSERT_EQ(two.ranks[0].put(1, two.put(source)), PH_OK);
  for (int i = 0; i < 50; ++i) {
    Taker taker{{PH_ANY_RANK, PH_EITHER, nullptr}, nullptr, 0};
    EXPECT_EQ(two.ranks[1].probe(taker), PH_OK);
  }
  EXPECT_EQ(first_difference(two.memory.bytes().first(100), 2), 100u);
  EXPECT_EQ(two.count(1, PH_REMOTE), 1u);
}

TEST(Probe, a_full_array_leaves_the_rest_for_the_next_probe_and_no_peer_starves) {
  EngineGroup ranks(4, Ground::fake, options());
  for (Rank rank = 1; rank < 4; ++rank) {
    ranks.meet(0, rank);
    for (std::uint64_t i = 0; i < 4; ++i)
      ASSERT_EQ(ranks[rank].put(0, put_args({}, {}, i, i)), PH_OK);
  }
  for (int i = 0; i < 100; ++i) ranks.turn();  // all lie in the stash now
  std::uint64_t next[4] = {};
  Rank first_half[4] = {};
  for (int i = 0; i < 12; ++i) {
    const auto found = ranks.probe(0, PH_REMOTE, 1);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].id, next[found[0].peer]++);
    if (i < 6) ++first_half[found[0].peer];
  }
  for (Rank rank = 1; rank < 4; ++rank) EXPECT_GE(first_half[rank], 1u) << "rank " << rank;
  EXPECT_TRUE(ranks.probe(0, PH_REMOTE).empty());
}

TEST(Probe, ids_that_were_stashed_come_before_those_in_the_ring) {
  Two two;
  for (std::uint64_t i = 0; i < 2; ++i)
    ASSERT_EQ(two.ranks[0].put(1, put_args({}, {}, i, i)), PH_OK);
  for (int i = 0; i < 50; ++i) two.ranks[1].serve();
  for (std::uint64_t i = 2; i < 4; ++i)
    ASSERT_EQ(two.ranks[0].put(1, put_args({}, {}, i, i)), PH_OK);
  std::vector<std::uint64_t> ids;
  while (ids.size() < 4) ids.push_back(two.ranks.take(1, PH_REMOTE).id);
  EXPECT_EQ(ids, (std::vector<std::uint64_t>{0, 1, 2, 3}));
}

TEST(Probe, long_ids_need_room_and_nothing_is_taken_without_it) {
  FakeOptions chosen = options();
  chosen.config.max_cid_size = 64;
  Two two(chosen);
  const auto id = filled(64, 9);
  ph_put_args args = two.put({});
  args.remote = {id.data(), 64};
  ASSERT_EQ(two.ranks[0].put(1, args), PH_OK);
  ph_completion one{};
  Taker taker{{PH_ANY_RANK, PH_REMOTE, nullptr}, &one, 1};
  EXPECT_EQ(two.ranks[1].probe(taker), PH_ERR_ARGUMENT);
  const ph_completion found = two.ranks.take(1, PH_REMOTE);
  EXPECT_EQ(first_difference({static_cast<const std::byte*>(found.long_id), 64}, 9), 64u);
}

}  // namespace
}  // namespace photon::engine::test
