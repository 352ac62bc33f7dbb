// How peers end.
#include "ofi_ranks.hpp"

namespace photon::transport::ofi::test {
namespace {

class OfiPoll : public OfiTest {};

TEST_F(OfiPoll, a_rank_that_ends_is_told_after_what_it_said) {
  OfiRanks ranks(2);
  ASSERT_TRUE(ranks.join(0, 1));
  ASSERT_TRUE(ranks[0].say(1, 4711));
  ranks[0].transport.reset();
  ASSERT_TRUE(ranks.eventually([&] { return ranks[1].news.gone.count(0) == 1; }));
  EXPECT_EQ(ranks[1].news.gone[0].status, PH_ERR_PEER) << "dropped";
  EXPECT_EQ(ranks[1].news.activity[0], 1u);
  ranks[1].transport->disconnect(0);
  EXPECT_FALSE(ranks[1].transport->connect(0)) << "it is gone for good";
}

TEST_F(OfiPoll, who_leaves_in_order_says_so_itself) {
  OfiRanks ranks(2);
  ASSERT_TRUE(ranks.join(0, 1));
  ranks[0].transport->leave();
  ranks[0].transport.reset();
  ASSERT_TRUE(ranks.eventually([&] { return ranks[1].news.gone.count(0) == 1; }));
  EXPECT_EQ(ranks[1].news.gone[0].status, PH_ERR_DEPARTED);
}

TEST_F(OfiPoll, a_rank_that_was_never_met_ends_unheard) {
  OfiRanks ranks(3);
  ASSERT_TRUE(ranks.join(0, 1));
  ranks[2].transport.reset();
  ranks[2].boot.reset();
  ranks.settle();
  EXPECT_TRUE(ranks[0].news.gone.empty());
}

TEST_F(OfiPoll, a_process_that_ends_without_a_bye_is_told_when_nothing_more_came) {
  OfiRanks ranks(2);
  ASSERT_TRUE(ranks.join(0, 1));
  ranks[0].fabric().stick(true);  // its bye does not leave
  ranks[0].transport.reset();
  ranks[0].boot.reset();
  ASSERT_TRUE(ranks.eventually([&] { return ranks[1].news.gone.count(0) == 1; }));
}

TEST_F(OfiPoll, a_message_that_was_lost_on_the_way_ends_that_peer_with_the_providers_words) {
  OfiRanks ranks(3);
  ASSERT_TRUE(ranks.join(0, 1));
  ASSERT_TRUE(ranks.join(0, 2));
  ranks.settle();
  ranks[0].fabric().fail_next_send();
  ASSERT_TRUE(ranks[0].say(1, 1));
  ASSERT_TRUE(ranks.eventually([&] { return ranks[0].news.gone.count(1) == 1; }));
  EXPECT_NE(ranks[0].news.gone[1].what.find("fake trouble"), std::string::npos);
  EXPECT_EQ(ranks[0].news.gone.count(2), 0u);
}

TEST_F(OfiPoll, a_peer_without_a_route_for_a_while_is_met_when_there_is_one) {
  OfiRanks ranks(2);
  for (const std::uint32_t rank : {0, 1}) ranks[rank].fabric().lose_way(true);
  ASSERT_TRUE(ranks[0].say(1, 1));
  ranks.settle();
  EXPECT_TRUE(ranks[1].news.links.empty());
  for (const std::uint32_t rank : {0, 1}) ranks[rank].fabric().lose_way(false);
  ASSERT_TRUE(ranks.join(0, 1));
  ASSERT_TRUE(ranks.eventually([&] { return ranks[1].news.activity[0] == 1; }));
  ranks[0].fabric().lose_way(true);
  ASSERT_TRUE(ranks[0].say(1, 2));
  ranks.settle();
  ranks[0].fabric().lose_way(false);
  ASSERT_TRUE(ranks.eventually([&] { return ranks[1].news.activity[0] == 2; }));
  EXPECT_TRUE(ranks[0].news.gone.empty());
}

TEST_F(OfiPoll, a_peer_that_no_route_leads_to_ends_with_the_providers_words) {
  OfiRanks ranks(2);
  ASSERT_TRUE(ranks.join(0, 1));
  ranks[0].fabric().lose_way(true);
  ASSERT_TRUE(ranks[0].say(1, 1));
  ASSERT_TRUE(ranks.eventually([&] { return ranks[0].news.gone.count(1) == 1; }));
  EXPECT_NE(ranks[0].news.gone[1].what.find("cannot be sent to"), std::string::npos)
      << ranks[0].news.gone[1].what;
}

TEST_F(OfiPoll, what_a_rank_said_before_it_could_not_be_sent_to_is_read) {
  OfiRanks ranks(2);
  ASSERT_TRUE(ranks.join(0, 1));
  ranks.settle();
  ASSERT_TRUE(ranks[1].say(0, 4711));
  ranks[1].transport.reset();  // its bye is on its way as well
  ranks[0].fabric().fail_sends();
  ASSERT_TRUE(ranks[0].say(1, 1));
  EXPECT_TRUE(ranks[0].transport->drained()) << "nothing of ours can leave";
  ASSERT_TRUE(ranks.eventually([&] { return ranks[0].news.gone.count(1) == 1; }));
  EXPECT_EQ(ranks[0].news.activity[1], 1u);
  EXPECT_NE(ranks[0].news.gone[1].what.find("has ended"), std::string::npos)
      << ranks[0].news.gone[1].what;
}

TEST_F(OfiPoll, an_error_of_a_message_under_way_leaves_what_comes_from_there_readable) {
  OfiRanks ranks(EachManners{{}, {.fails = 3}});  // rank 1 dials: hello, proof, and then this
  ASSERT_TRUE(ranks.join(0, 1));
  ranks.settle();
  ASSERT_TRUE(ranks[1].say(0, 1));
  ASSERT_TRUE(ranks[0].say(1, 2));
  ASSERT_TRUE(ranks.eventually([&] { return ranks[1].news.gone.count(0) == 1; }));
  EXPECT_EQ(ranks[1].news.activity[0], 1u);
  EXPECT_NE(ranks[1].news.gone[0].what.find("fake trouble"), std::string::npos);
}

TEST_F(OfiPoll, a_message_that_the_provider_loses_ends_that_peer_with_its_name) {
  OfiRanks ranks(EachManners{{}, {.loses = 3}});  // rank 1 dials: hello, proof, and then this
  ASSERT_TRUE(ranks.join(0, 1));
  for (std::uint64_t i = 0; i < 2; ++i) ASSERT_TRUE(ranks[1].say(0, i));
  ASSERT_TRUE(ranks.eventually([&] { return ranks[0].news.gone.count(1) == 1; }));
  EXPECT_EQ(ranks[0].news.gone[1].status, PH_ERR_PROTOCOL);
  EXPECT_NE(ranks[0].news.gone[1].what.find("fake"), std::string::npos);
}

// Rank 1 cannot be sent to, so it hears nothing of its end; and it goes on talking.
TEST_F(OfiPoll, who_is_cut_off_is_told_and_cannot_put_that_off_by_talking) {
  OfiRanks ranks(2);
  ASSERT_TRUE(ranks.join(0, 1));
  ranks.settle();
  ranks[0].fabric().fail_sends();
  ASSERT_TRUE(ranks[0].say(1, 1));
  Link& back = ranks[0].to(1);
  std::uint64_t said = 0;
  ASSERT_TRUE(ranks.eventually([&] {
    if (ranks[1].news.gone.empty() && ranks[1].say(0, said)) back.rx_credits->give_lines(++said);
    return ranks[0].news.gone.count(1) == 1;
  }));
  EXPECT_NE(ranks[0].news.gone[1].what.find("fake trouble"), std::string::npos);
  ASSERT_TRUE(ranks.eventually([&] { return ranks[1].news.gone.count(0) == 1; }));
  EXPECT_EQ(ranks[1].news.gone[0].status, PH_ERR_PEER);
  EXPECT_NE(ranks[1].news.gone[0].what.find("rank 0 has cut this rank off"), std::string::npos);
  EXPECT_NE(ranks[1].news.gone[0].what.find("fake trouble"), std::string::npos)
      << ranks[1].news.gone[0].what;
}

TEST_F(OfiPoll, a_rank_that_lost_a_message_of_ours_tells_us_so) {
  OfiRanks ranks(EachManners{{}, {.loses = 3}});
  ASSERT_TRUE(ranks.join(0, 1));
  for (std::uint64_t i = 0; i < 2; ++i) ASSERT_TRUE(ranks[1].say(0, i));
  ASSERT_TRUE(ranks.eventually([&] { return ranks[1].news.gone.count(0) == 1; }));
  EXPECT_EQ(ranks[1].news.gone[0].status, PH_ERR_PEER);
  EXPECT_NE(ranks[1].news.gone[0].what.find("has lost it"), std::string::npos);
}

TEST_F(OfiPoll, a_provider_that_fails_altogether_ends_all_peers) {
  OfiRanks ranks(3);
  ASSERT_TRUE(ranks.join(0, 1));
  ASSERT_TRUE(ranks.join(0, 2));
  ranks[0].fabric().break_down();
  ASSERT_TRUE(ranks.eventually([&] { return ranks[0].news.gone.size() == 2; }));
}

TEST_F(OfiPoll, who_was_disconnected_is_not_harmed_and_not_heard) {
  OfiRanks ranks(2);
  ASSERT_TRUE(ranks.join(0, 1));
  ranks[1].transport->disconnect(0);
  ASSERT_TRUE(ranks[0].say(1, 1));
  ranks.settle();
  EXPECT_EQ(ranks[1].news.activity.count(0), 0u);
  EXPECT_TRUE(ranks[0].news.gone.empty());
}

// It said much and left in order; all of it stands in the provider while we compute, our own
// message to it having failed.
TEST_F(OfiPoll, what_a_mute_peer_said_is_read_however_late_we_come) {
  constexpr unsigned kLinesLog2 = 10;
  constexpr int kRecords = 600;  // several times what one look takes
  auto config = ofi_config();
  config.ring_lines = 1 << kLinesLog2;
  OfiRanks ranks(2, {}, config);
  ASSERT_TRUE(ranks.join(0, 1));
  ranks.settle();
  Link& to_us = ranks[1].to(0);
  sync::LineProducer<Policy> theirs(to_us.tx_lines, to_us.tx_credits, kLinesLog2);
  for (int i = 0; i < kRecords; ++i) {
    ASSERT_TRUE(theirs.has_room(1));
    theirs.publish(wire::encode(wire::Kind::bye, wire::kNoId, 0), 1);
    ranks[1].transport->kick(0);
    ranks[1].transport->poll(ranks[1].news);
  }
  ASSERT_TRUE(ranks.eventually([&] { return ranks[1].transport->drained(); }));
  ranks[1].transport.reset();
  ranks[1].boot.reset();
  ranks[0].fabric().fail_sends();
  Link& link = ranks[0].to(1);
  sync::LineProducer<Policy> ours(link.tx_lines, link.tx_credits, kLinesLog2);
  ours.publish(wire::encode(wire::Kind::bye, wire::kNoId, 0), 1);
  ranks[0].transport->kick(1);
  ranks.time().move_ns(3'200'000'000);  // the computing: longer than any deadline of a peer
  ASSERT_TRUE(ranks.eventually([&] { return ranks[0].news.gone.count(1) == 1; }));
  EXPECT_NE(ranks[0].news.gone[1].what.find("has ended"), std::string::npos)
      << ranks[0].news.gone[1].what;
  sync::LineConsumer<Policy> reader(link.rx_lines, nullptr, kLinesLog2);
  int count = 0;
  for (; reader.peek() == sync::LineConsumer<Policy>::State::record; ++count) reader.pop(1);
  EXPECT_EQ(count, kRecords);
}

TEST_F(OfiPoll, when_our_provider_fails_the_peers_are_told) {
  OfiRanks ranks(2);
  ASSERT_TRUE(ranks.join(0, 1));
  ranks.settle();
  ranks[0].fabric().break_down();
  ASSERT_TRUE(ranks.eventually([&] { return ranks[1].news.gone.count(0) == 1; }));
  EXPECT_NE(ranks[1].news.gone[0].what.find("provider has failed"), std::string::npos)
      << ranks[1].news.gone[0].what;
}

}  // namespace
}  // namespace photon::transport::ofi::test
