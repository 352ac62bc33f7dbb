// Meeting, checking and losing peers.
#include "engine/fast_path.hpp"
#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

ph_path path_to(Engine& engine, Rank rank) {
  ph_path path{};
  path.size = sizeof path;
  EXPECT_EQ(engine.describe(rank, path), PH_OK);
  return path;
}

TEST(Contact, a_peer_goes_from_unknown_over_connected_to_departed) {
  EngineGroup ranks(options());
  EXPECT_STREQ(path_to(ranks[0], 1).state, "unknown");
  ranks.meet(0, 1);
  EXPECT_STREQ(path_to(ranks[0], 1).state, "connected");
  EXPECT_STREQ(path_to(ranks[0], 1).transport, "fake");
  LaneGuard guard(ranks.lane(1));
  EXPECT_EQ(ranks[1].finalize(guard), PH_OK);
  EXPECT_TRUE(
      ranks.eventually([&] { return std::string(path_to(ranks[0], 1).state) == "departed"; }));
  EXPECT_EQ(ranks[0].put(1, put_args({}, {}, 1, 1)), PH_ERR_DEPARTED);
}

TEST(Contact, a_queued_put_to_a_peer_that_goes_is_told_once_with_the_error) {
  for (const std::size_t size : {0, 8, 700, 30000})
    for (const std::uint32_t flags : {0u, std::uint32_t{PH_NO_LCE}, std::uint32_t{PH_DELIVERED}}) {
      SCOPED_TRACE(std::to_string(size) + " bytes, flags " + std::to_string(flags));
      Two two;
      const auto source = filled(size, 1);
      for (int i = 0; i < 4; ++i)  // the ledger has 4
        ASSERT_EQ(two.ranks[0].put(1, two.put({}, PH_NO_LCE)), PH_OK);
      for (std::uint64_t i = 0; i < 3; ++i) {
        two.local_id = i;
        ASSERT_EQ(two.ranks[0].put(1, two.put(source, flags)), PH_OK);
      }
      ph_request request = PH_REQUEST_NONE;
      ph_put_args kept = two.put(source, flags & ~std::uint32_t{PH_NO_LCE});
      kept.request = &request;
      ASSERT_EQ(two.ranks[0].put(1, kept), PH_OK);
      ASSERT_NE(request, PH_REQUEST_NONE);
      two.ranks.net().seats[0].gone[1] = {PH_ERR_PEER, 0, "the cable was cut", 1};
      two.ranks[0].serve();
      const auto found = two.ranks.probe(0, PH_LOCAL);
      ASSERT_EQ(found.size(), 3u);
      for (std::uint64_t i = 0; i < 3; ++i) {
        EXPECT_EQ(found[i].id, i);
        EXPECT_EQ(found[i].status, PH_ERR_PEER);
      }
      ph_result result{};
      EXPECT_EQ(two.ranks[0].test(request, result), PH_ERR_PEER);
      EXPECT_EQ(two.count(0, PH_LOCAL), 0u);
      EXPECT_EQ(two.ranks[0].resource_use().requests, 0u);
      EXPECT_EQ(two.ranks[0].resource_use().events, 0);
      EXPECT_EQ(two.ranks[0].resource_use().blocks, 0u);
    }
}

TEST(Contact, a_peer_that_is_gone_takes_its_operations_along_with_the_reason) {
  Two two;
  const auto source = filled(40000, 1);
  EXPECT_EQ(two.ranks[0].put(1, two.put(source, PH_DELIVERED)), PH_OK);
  two.ranks.net().seats[0].gone[1] = {PH_ERR_PEER, 0, "the cable was cut", 1};
  two.ranks[0].serve();
  const auto found = two.ranks.probe(0, PH_LOCAL);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].status, PH_ERR_PEER);
  EXPECT_EQ(found[0].id, two.local_id);
  EXPECT_EQ(found[0].outstanding, 0u);
  EXPECT_EQ(two.ranks[0].put(1, two.put({})), PH_ERR_PEER);
  EXPECT_NE(two.ranks[0].last_error().what.find("the cable was cut"), std::string::npos);
  EXPECT_STREQ(path_to(two.ranks[0], 1).state, "dead");
}

// Its link was made when it had said its byes, so that none stands in its ring; and the bootstrap,
// which says nothing here, may be late.
TEST(Contact, a_peer_whose_transport_says_bye_has_departed_though_it_never_said_bye) {
  Two two;
  EXPECT_EQ(two.ranks[1].put(0, put_args({}, {}, 1, two.remote_id)), PH_OK);
  two.ranks.net().seats[0].gone[1] = {PH_ERR_DEPARTED, 0, "it has ended", 1};
  two.ranks[0].serve();  // takes what lies in its ring, and has no time for other news
  two.ranks[0].serve();
  EXPECT_STREQ(path_to(two.ranks[0], 1).state, "departed");
  EXPECT_EQ(two.ranks.take(0, PH_REMOTE).id, two.remote_id);
  EXPECT_EQ(two.ranks[0].put(1, two.put({})), PH_ERR_DEPARTED);
}

TEST(Contact, what_a_lost_peer_had_delivered_can_still_be_probed) {
  Two two;
  EXPECT_EQ(two.ranks[1].put(0, put_args({}, {}, 1, two.remote_id)), PH_OK);
  two.ranks.net().seats[0].gone[1] = {PH_ERR_PEER, 0, "gone", 1};
  two.ranks[0].serve();
  EXPECT_EQ(two.ranks.take(0, PH_REMOTE).id, two.remote_id);
}

TEST(Contact, the_link_of_a_rank_whose_process_is_gone_is_given_back_once_its_ring_was_read) {
  for (const ph_status why : {PH_ERR_PEER, PH_ERR_PROTOCOL}) {
    Two two;
    const auto source = filled(40000, 1);
    for (std::uint64_t id = 1; id <= 3; ++id)
      EXPECT_EQ(two.ranks[1].put(0, put_args({}, {}, 1, id)), PH_OK);
    EXPECT_EQ(two.ranks[0].put(1, two.put(source, PH_DELIVERED)), PH_OK);
    two.ranks.net().seats[0].gone[1] = {why, 0, "gone", 1};
    two.ranks[0].serve();  // takes what lies in its ring, and has no time for other news
    two.ranks[0].serve();
    EXPECT_TRUE(two.ranks.net().seats[0].let_go.contains(1));
    for (std::uint64_t id = 1; id <= 3; ++id) EXPECT_EQ(two.ranks.take(0, PH_REMOTE).id, id);
    EXPECT_EQ(two.ranks.take(0, PH_LOCAL).status, why);
    two.ranks.net().seats[0].gone[1] = {PH_ERR_PEER, 0, "told again", 1};
    two.ranks.net().seats[0].new_links.insert(1);
    two.ranks.net().seats[0].doorbells.insert(1);
    two.ranks[0].serve();
    EXPECT_EQ(two.ranks[0].put(1, two.put({})), why);
    EXPECT_EQ(two.ranks[0].fence(1), why);
    LaneGuard guard(two.ranks.lane(0));
    // It may live, and lack what it was sent, unless its process has ended.
    EXPECT_EQ(two.ranks[0].finalize(guard), why == PH_ERR_PEER ? PH_OK : why);
  }
}

TEST(Contact, a_peer_that_is_lost_with_its_ring_full_takes_no_notification_afterwards) {
  Two two;
  auto& way = two.ranks.net().way(0, 1);
  std::uint64_t line = 1;                                // the meeting took one
  for (; line < 63 + way.credits.lines_given(); ++line)  // the last is kept for a jump
    ASSERT_EQ(two.ranks[0].put(1, two.put({two.memory.data(), 8}, PH_NO_LCE | PH_NO_RCE)), PH_OK);
  ASSERT_EQ(two.ranks[0].resource_use().requests, 0u);
  ASSERT_EQ(two.ranks[0].notify(1, 5), PH_OK);
  ASSERT_EQ(two.ranks[0].resource_use().requests, 1u) << "it waits for a line";
  two.ranks.net().seats[0].gone[1] = {PH_ERR_PEER, 0, "gone", 1};
  two.ranks[0].serve();
  two.ranks[0].serve();
  ASSERT_TRUE(two.ranks.net().seats[0].let_go.contains(1));
  EXPECT_EQ(two.ranks[0].try_notify(1, 6), Engine::Fast::no);
  EXPECT_EQ(two.ranks[0].notify(1, 6), PH_ERR_PEER);
  EXPECT_EQ(two.ranks[0].try_put_u64(1, {nullptr, 0}, {}, {1, 1}), Engine::Fast::no);
}

TEST(Contact, the_link_of_a_rank_that_left_is_kept_until_its_process_is_gone) {
  EngineGroup ranks(options());
  ranks.meet(0, 1);
  LaneGuard guard(ranks.lane(1));
  EXPECT_EQ(ranks[1].finalize(guard), PH_OK);
  EXPECT_TRUE(
      ranks.eventually([&] { return std::string(path_to(ranks[0], 1).state) == "departed"; }));
  EXPECT_TRUE(ranks.net().seats[0].let_go.empty());
  ranks.net().seats[0].gone[1] = {PH_ERR_PEER, 0, "gone", 1};
  ranks[0].serve();
  EXPECT_TRUE(ranks.net().seats[0].let_go.contains(1));
  EXPECT_STREQ(path_to(ranks[0], 1).state, "departed");
}

TEST(Contact, a_stranger_that_has_gone_cannot_be_addressed) {
  EngineGroup ranks(options());
  ranks.net().seats[0].gone[1] = {PH_ERR_PEER, 0, "gone", 1};
  ranks[0].serve();
  EXPECT_EQ(ranks[0].put(1, put_args({}, {}, 1, 1)), PH_ERR_PEER);
  EXPECT_EQ(ranks[0].fence(1), PH_ERR_PEER);
}

}  // namespace
}  // namespace photon::engine::test
