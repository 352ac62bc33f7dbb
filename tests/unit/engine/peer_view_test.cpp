// What a caller may ask of a peer: contact without an id, and its state.
#include "engine/peer_view.hpp"

#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

ph_contact_state state_of(EngineGroup& ranks, Rank me, Rank peer) {
  ph_contact_state state = PH_PEER_UNKNOWN;
  EXPECT_EQ(PeerView(ranks[me]).state(peer, state), PH_OK);
  return state;
}

TEST(PeerView, contact_makes_a_link_and_sends_nothing) {
  EngineGroup ranks(options());
  EXPECT_EQ(state_of(ranks, 0, 1), PH_PEER_UNKNOWN);
  ASSERT_EQ(PeerView(ranks[0]).contact(1), PH_OK);
  EXPECT_NE(state_of(ranks, 0, 1), PH_PEER_UNKNOWN);
  EXPECT_TRUE(ranks.eventually([&] { return state_of(ranks, 0, 1) == PH_PEER_CONNECTED; }));
  EXPECT_TRUE(ranks.eventually([&] { return state_of(ranks, 1, 0) == PH_PEER_CONNECTED; }));
  EXPECT_TRUE(ranks.probe(0, PH_EITHER).empty());
  EXPECT_TRUE(ranks.probe(1, PH_EITHER).empty());
  ASSERT_EQ(PeerView(ranks[0]).contact(1), PH_OK) << "it exists";
  EXPECT_EQ(ranks[0].resource_use().requests, 0u);
}

TEST(PeerView, the_end_of_a_peer_that_was_only_contacted_is_told) {
  EngineGroup ranks(options());
  ASSERT_EQ(PeerView(ranks[0]).contact(1), PH_OK);
  ranks.net().seats[0].gone[1] = {PH_ERR_PEER, 0, "the cable was cut", 1};
  ranks[0].serve();
  EXPECT_EQ(state_of(ranks, 0, 1), PH_PEER_DEAD);
  EXPECT_EQ(PeerView(ranks[0]).contact(1), PH_ERR_PEER);
  EXPECT_NE(ranks[0].last_error().what.find("the cable was cut"), std::string::npos);
}

TEST(PeerView, a_rank_that_is_not_of_the_job_has_no_state) {
  EngineGroup ranks(options());
  ph_contact_state state = PH_PEER_DEAD;
  EXPECT_EQ(PeerView(ranks[0]).state(2, state), PH_ERR_RANK);
  EXPECT_EQ(PeerView(ranks[0]).contact(2), PH_ERR_RANK);
  EXPECT_EQ(state, PH_PEER_DEAD);
}

// One table for words and numbers.
TEST(PeerView, ph_path_to_says_the_same_in_words) {
  EngineGroup ranks(options());
  const auto words = [&] {
    ph_path path{};
    path.size = sizeof path;
    EXPECT_EQ(ranks[0].describe(1, path), PH_OK);
    return std::string(path.state);
  };
  EXPECT_EQ(words(), text_of(state_of(ranks, 0, 1)));
  ranks.meet(0, 1);
  EXPECT_EQ(words(), text_of(state_of(ranks, 0, 1)));
  EXPECT_EQ(words(), "connected");
  LaneGuard guard(ranks.lane(1));
  EXPECT_EQ(ranks[1].finalize(guard), PH_OK);
  EXPECT_TRUE(ranks.eventually([&] { return state_of(ranks, 0, 1) == PH_PEER_DEPARTED; }));
  EXPECT_EQ(words(), "departed");
}

}  // namespace
}  // namespace photon::engine::test
