// First contact, and what comes of strangers.
#include "ofi_ranks.hpp"

namespace photon::transport::ofi::test {
namespace {

class OfiContact : public OfiTest {};

TEST_F(OfiContact, one_side_or_both_may_begin) {
  OfiRanks ranks(3, {.refuses_every = 2, .completes_after = 3});
  EXPECT_TRUE(ranks.join(0, 1));
  ranks[1].to(2);
  EXPECT_TRUE(ranks.join(2, 1));
  ranks[2].to(0);
  EXPECT_TRUE(ranks.join(0, 2));
}

TEST_F(OfiContact, a_strangers_messages_are_refused_counted_and_in_nobodys_way) {
  OfiRanks ranks(2);
  ranks.tell(0, std::uint64_t{4711});
  ranks.tell(0, Hello{});  // its magic word is no head's kind
  struct {
    MessageHead head{.key = kHelloKey, .from = 1, .kind = MessageKind::hello};
    HelloBody hello{.hello = {.from = 1, .to = 0}};
  } hello;
  ranks.tell(0, hello);
  ranks.tell(0, MessageHead{.key = 5, .from = 77, .sequence = 1, .kind = MessageKind::bye});
  ranks.settle();
  EXPECT_GE(ranks[0].ofi().refused(Refusal::garbage), 1u);
  EXPECT_GE(ranks[0].ofi().refused(Refusal::unexpected), 2u) << "it was never met";
  ASSERT_TRUE(ranks.join(1, 0));
  ranks.tell(0, MessageHead{.key = 5, .from = 1, .sequence = 1, .kind = MessageKind::bye});
  ranks.tell(0, hello);
  ranks.settle();
  EXPECT_EQ(ranks[0].ofi().refused(Refusal::wrong_key), 1u);
  EXPECT_EQ(ranks[0].ofi().refused(Refusal::wrong_secret), 1u);
  const RejectedConnections strangers = ranks[0].ofi().rejected();
  EXPECT_EQ(strangers.wrong_key, 1u);
  EXPECT_EQ(strangers.wrong_secret, 1u);
  EXPECT_EQ(strangers.garbage, ranks[0].ofi().refused(Refusal::garbage));
  EXPECT_EQ(strangers.unexpected, ranks[0].ofi().refused(Refusal::unexpected));
  EXPECT_TRUE(ranks[0].news.gone.empty()) << "nobody can say goodbye for another rank";
  ASSERT_TRUE(ranks[1].say(0, 1));
  EXPECT_TRUE(ranks.eventually([&] { return ranks[0].news.activity[1] != 0; }));
}

TEST_F(OfiContact, a_flood_of_strangers_during_the_handshake_does_not_stop_it) {
  OfiRanks ranks(2);
  struct {
    MessageHead head{.key = kHelloKey, .from = 1, .kind = MessageKind::hello};
    HelloBody hello{.hello = {.from = 1, .to = 0}};
  } hello;
  ranks[1].to(0);
  while (ranks[0].news.links.count(1) + ranks[1].news.links.count(0) != 2) {
    hello.hello.hello.nonce[3] ^= std::byte{1};
    for (const Rank rank : {0u, 1u}) ranks.tell(rank, hello);
    ranks.turn();
  }
  EXPECT_TRUE(ranks[0].news.gone.empty());
}

TEST_F(OfiContact, a_message_that_no_rank_would_send_is_refused_whatever_its_length) {
  OfiRanks ranks(2);
  ranks.tell(0, std::array<std::byte, 100'000>{});
  ranks.settle();
  EXPECT_EQ(ranks[0].ofi().refused(Refusal::garbage), 1u);
  EXPECT_TRUE(ranks.join(0, 1));
}

TEST_F(OfiContact, settings_that_differ_are_told_to_both) {
  OfiRanks ranks(2);
  base::Config other = ofi_config();
  other.ring_lines = 128;
  ranks[1].transport.reset();
  ranks[1].boot.reset();
  OfiRanks pair(2, {}, ofi_config());
  pair[1].transport.reset();
  pair[1].fabrics.clear();
  auto opened = open_ofi_over(other, *pair[1].boot, photon::test::open_fake({}));
  ASSERT_TRUE(opened);
  pair[1].transport = std::move(*opened);
  pair[0].to(1);
  ASSERT_TRUE(pair.eventually(
      [&] { return pair[0].news.gone.count(1) == 1 && pair[1].news.gone.count(0) == 1; }));
  for (const auto& why : {pair[0].news.gone[1], pair[1].news.gone[0]}) {
    EXPECT_EQ(why.status, PH_ERR_BOOTSTRAP);
    EXPECT_NE(why.what.find("ring_lines"), std::string::npos) << why.what;
  }
}

// Which of its messages, by whom, and who has begun.
TEST_F(OfiContact, survives_the_loss_of_any_one_message_of_the_handshake) {
  for (const Rank loser : {0u, 1u}) {
    for (const unsigned lost : {1u, 2u, 3u}) {
      for (const bool both_begin : {false, true}) {
        EachManners manners(2);
        manners[loser].loses = lost;
        OfiRanks ranks(manners);
        if (both_begin) ranks[1].to(0);
        ASSERT_TRUE(ranks.join(0, 1)) << "rank " << loser << " lost message " << lost;
        EXPECT_TRUE(ranks[0].news.gone.empty() && ranks[1].news.gone.empty());
      }
    }
  }
}

// Rank 0 has asked, so rank 1 dials, and rank 0 says welcome in its second message.
TEST_F(OfiContact, what_follows_a_welcome_that_was_lost_stands_for_it) {
  OfiRanks ranks(EachManners{{.loses = 2}, {}});
  ASSERT_TRUE(ranks[0].say(1, 4711));
  ASSERT_TRUE(ranks.eventually([&] { return ranks[1].news.activity[0] != 0; }));
  ASSERT_TRUE(ranks[1].say(0, 4711));
  ASSERT_TRUE(ranks.eventually([&] { return ranks[0].news.activity[1] != 0; }));
  EXPECT_EQ(ranks[1].ofi().refused(Refusal::unexpected), 0u);
}

TEST_F(OfiContact, a_message_of_a_handshake_that_could_not_be_sent_is_said_again) {
  for (const unsigned failed : {1u, 2u}) {  // rank 1 dials: hello, proof
    OfiRanks ranks(EachManners{{}, {.fails = failed}});
    ASSERT_TRUE(ranks.join(0, 1)) << "message " << failed;
    EXPECT_TRUE(ranks[1].news.gone.empty());
  }
  for (const unsigned failed : {1u, 2u}) {  // rank 0 answers: challenge, welcome
    OfiRanks ranks(EachManners{{.fails = failed}, {}});
    ASSERT_TRUE(ranks.join(0, 1)) << "message " << failed;
    ASSERT_TRUE(ranks.eventually([&] { return ranks[1].news.links.count(0) != 0; }));
    ranks.settle();
    EXPECT_TRUE(ranks[0].news.gone.empty() && ranks[1].news.gone.empty());
  }
}

TEST_F(OfiContact, a_handshake_that_cannot_be_sent_ends_with_the_providers_words) {
  OfiRanks ranks(EachManners{{}, {.fails_first = 100}});
  ranks[0].to(1);
  ranks[1].to(0);
  ASSERT_TRUE(ranks.eventually([&] { return ranks[1].news.gone.count(0) == 1; }));
  EXPECT_NE(ranks[1].news.gone[0].what.find("fake trouble"), std::string::npos);
}

// As libfabric 1.17 over tcp leaves a connection whose first messages came in parts.
TEST_F(OfiContact, who_is_not_reached_by_an_endpoint_is_reached_by_the_next_one) {
  OfiRanks ranks(2, {.dead_endpoints = 1});
  ASSERT_TRUE(ranks[1].say(0, 4711));  // rank 0 dials
  ASSERT_TRUE(ranks.eventually([&] { return ranks[0].news.activity[1] != 0; }));
  ASSERT_TRUE(ranks[0].say(1, 4711));
  ASSERT_TRUE(ranks.eventually([&] { return ranks[1].news.activity[0] != 0; }));
  EXPECT_EQ(ranks[0].fabric().endpoints_count(), 2u);
  EXPECT_EQ(ranks[1].fabric().endpoints_count(), 1u);
}

// Rank 1 answers where the hello came from, though rank 0's endpoint info names another endpoint.
TEST_F(OfiContact, of_two_that_have_dialed_one_follows_the_other_to_its_next_endpoint) {
  OfiRanks ranks(
      EachManners{{.dead_endpoints = 1}, {.opens_no_endpoint = true, .dead_endpoints = 1}});
  ASSERT_TRUE(ranks[0].say(1, 4711));
  ASSERT_TRUE(ranks[1].say(0, 4711));
  ASSERT_TRUE(ranks.eventually(
      [&] { return ranks[0].news.activity[1] != 0 && ranks[1].news.activity[0] != 0; }));
  EXPECT_EQ(ranks[0].fabric().endpoints_count(), 2u);
  EXPECT_EQ(ranks[1].fabric().endpoints_count(), 1u);
  EXPECT_EQ(ranks[0].ofi().refused(Refusal::unexpected), 0u);
}

// Where both have gone on to their next ones, too: a hello has come to the acceptor's first, so
// that one is reached.
TEST_F(OfiContact, an_acceptor_speaks_by_its_first_endpoint) {
  OfiRanks ranks(2, {.dead_endpoints = 1});
  ASSERT_TRUE(ranks[0].say(1, 1));
  ASSERT_TRUE(ranks[1].say(0, 1));
  ASSERT_TRUE(ranks.eventually(
      [&] { return ranks[0].news.activity[1] != 0 && ranks[1].news.activity[0] != 0; }));
  const unsigned on_handshake = ranks[1].fabric().taken_by(1);  // with hellos
  const unsigned before = ranks[1].fabric().taken_by(0);
  ASSERT_TRUE(ranks[1].say(0, 2));
  ASSERT_TRUE(ranks.eventually([&] { return ranks[0].news.activity[1] >= 2; }));
  EXPECT_EQ(ranks[1].fabric().taken_by(1), on_handshake);
  EXPECT_GT(ranks[1].fabric().taken_by(0), before);
}

// The answers to the first hello do not leave; then that endpoint is no more to be reached.
TEST_F(OfiContact, a_hello_that_is_said_by_another_endpoint_is_answered_there) {
  OfiRanks ranks(2);
  ranks[0].fabric().stick(true);
  ranks[0].to(1);  // rank 1 dials
  ASSERT_TRUE(ranks.eventually([&] { return ranks[1].fabric().taken_by(0) == 1; }));
  ranks.settle();
  ranks[1].fabric().lose_first();
  ASSERT_TRUE(ranks.eventually([&] { return ranks[1].fabric().taken_by(1) == 1; }));
  ranks.settle();
  ranks[0].fabric().stick(false);
  ASSERT_TRUE(ranks.eventually([&] { return ranks[0].news.links.count(1) != 0; }));
}

// A while without a route does not count, nor one in which we did not come.
TEST_F(OfiContact, another_endpoint_is_not_opened_for_a_link_that_was_down) {
  OfiRanks ranks(2);
  ranks[1].fabric().lose_way(true);
  ranks[0].to(1);
  ranks.turn_for(3'500'000'000);
  ranks[1].fabric().stick(true);
  ranks[1].fabric().lose_way(false);
  ranks.settle();
  EXPECT_EQ(ranks[1].fabric().endpoints_count(), 1u);
  ranks[1].fabric().stick(false);
  EXPECT_TRUE(ranks.eventually([&] { return ranks[0].news.links.count(1) != 0; }));
}

TEST_F(OfiContact,
       who_is_met_while_no_route_leads_to_it_is_told_of_its_end_with_the_providers_words) {
  OfiRanks ranks(2);
  ranks[0].to(1);  // rank 1 dials: its hello goes, and its proof does not
  ASSERT_TRUE(ranks.eventually([&] { return ranks[1].fabric().taken_by(0) == 1; }));
  ranks[1].fabric().lose_way(true);
  ASSERT_TRUE(ranks.eventually([&] { return ranks[0].news.gone.count(1) == 1; }));
  EXPECT_NE(ranks[0].news.gone[1].what.find("cannot be sent to: fake trouble"), std::string::npos)
      << ranks[0].news.gone[1].what;
}

// What follows it in the same breath goes.
TEST_F(OfiContact, a_handshake_that_is_refused_once_holds_nothing_up) {
  OfiRanks ranks(2);
  ASSERT_TRUE(ranks[0].say(1, 4711));
  ranks[1].fabric().fail_sends();
  for (int i = 0; i < 20; ++i) ranks.turn();
  ranks[1].fabric().fail_sends(false);
  ASSERT_TRUE(ranks.eventually([&] { return ranks[1].news.activity[0] != 0; }));
  EXPECT_TRUE(ranks[1].news.gone.empty());
}

// Once: what cannot be opened is not tried again for each peer and every time.
TEST_F(OfiContact, who_can_open_no_other_endpoint_waits) {
  OfiRanks ranks(EachManners{{}, {.opens_no_endpoint = true}});
  ranks[1].fabric().stick(true);
  ranks[0].to(1);
  ASSERT_TRUE(ranks.eventually([&] { return ranks[1].fabric().refused_endpoints() == 1; }));
  ranks.settle();
  ranks[1].fabric().stick(false);
  EXPECT_TRUE(ranks.eventually([&] { return ranks[0].news.links.count(1) != 0; }));
  EXPECT_EQ(ranks[1].fabric().refused_endpoints(), 1u);
}

// It was no fault of the endpoint's: what waited for it goes by it or by the other, once.
TEST_F(OfiContact, a_provider_that_was_only_slow_costs_an_endpoint) {
  OfiRanks ranks(EachManners{{}, {.opens_no_endpoint = true}});
  for (const Rank rank : {0u, 1u}) ranks[rank].fabric().stick(true);
  ASSERT_TRUE(ranks[0].say(1, 4711));
  ASSERT_TRUE(ranks[1].say(0, 4711));
  ASSERT_TRUE(ranks.eventually([&] { return ranks[0].fabric().endpoints_count() == 2; }));
  ranks.settle();
  EXPECT_TRUE(ranks[0].news.gone.empty() && ranks[1].news.gone.empty());
  for (const Rank rank : {0u, 1u}) ranks[rank].fabric().stick(false);
  ASSERT_TRUE(ranks.eventually(
      [&] { return ranks[0].news.activity[1] != 0 && ranks[1].news.activity[0] != 0; }));
  EXPECT_EQ(ranks[1].fabric().endpoints_count(), 1u);
}

TEST_F(OfiContact, messages_of_different_sizes_are_told_to_both_with_both_sizes) {
  OfiRanks ranks(EachManners{{.most_bytes = 4096}, {.most_bytes = 8192}});
  ranks[0].to(1);
  ASSERT_TRUE(ranks.eventually(
      [&] { return ranks[0].news.gone.count(1) == 1 && ranks[1].news.gone.count(0) == 1; }));
  for (const auto& why : {ranks[0].news.gone[1], ranks[1].news.gone[0]}) {
    EXPECT_EQ(why.status, PH_ERR_BOOTSTRAP);
    EXPECT_NE(why.what.find("4096"), std::string::npos) << why.what;
    EXPECT_NE(why.what.find("8192"), std::string::npos) << why.what;
  }
}

TEST_F(OfiContact, who_cannot_be_met_is_told_why) {
  OfiRanks ranks(EachManners{{}, {.takes_no_address = true}});
  ranks[0].to(1);
  ASSERT_TRUE(ranks.eventually([&] { return ranks[0].news.gone.count(1) == 1; }));
  EXPECT_EQ(ranks[0].news.gone[1].status, PH_ERR_PEER);
  EXPECT_NE(ranks[0].news.gone[1].what.find("cut this rank off"), std::string::npos);
  EXPECT_NE(ranks[0].news.gone[1].what.find("fake table is full"), std::string::npos)
      << ranks[0].news.gone[1].what;
}

TEST_F(OfiContact, a_endpoint_info_that_is_none_ends_that_rank_only) {
  OfiRanks ranks(3);
  const std::uint64_t nonsense = 4711;
  ASSERT_TRUE(ranks[1].boot->send(0, std::as_bytes(std::span(&nonsense, 1)), {}));
  ASSERT_TRUE(ranks.eventually([&] { return ranks[0].news.gone.count(1) == 1; }));
  EXPECT_EQ(ranks[0].news.gone[1].status, PH_ERR_PROTOCOL);
  EXPECT_TRUE(ranks.join(0, 2));
}

}  // namespace
}  // namespace photon::transport::ofi::test
