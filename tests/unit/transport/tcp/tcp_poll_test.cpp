// How connections end, in order and otherwise, and what a rank that knows the secret and sends
// nonsense gets.
#include "given_time.hpp"
#include "tcp_ranks.hpp"

namespace photon::transport::tcp::test {
namespace {

TEST(TcpPoll, who_leaves_in_order_says_so_itself) {
  TcpRanks ranks(2);
  ASSERT_TRUE(ranks.join(0, 1));
  ranks[1].transport->leave();
  ranks[1].transport.reset();
  ASSERT_TRUE(ranks.eventually([&] { return ranks[0].news.gone.count(1) == 1; }));
  EXPECT_EQ(ranks[0].news.gone[1].status, PH_ERR_DEPARTED);
}

TEST(TcpPoll, a_bye_is_told_apart_from_a_connection_that_breaks_off) {
  TcpRanks ranks(3);
  ASSERT_TRUE(ranks.join(0, 1));
  ranks[1].transport.reset();
  ASSERT_TRUE(ranks.eventually([&] { return ranks[0].news.gone.count(1) == 1; }));
  EXPECT_EQ(ranks[0].news.gone[1].what, "tcp: rank 1 has ended");
  EXPECT_EQ(ranks[0].news.gone[1].status, PH_ERR_PEER) << "dropped";
  {
    FalseRank killed(ranks, 2, 0);
    ASSERT_TRUE(killed.is_open());
  }
  ASSERT_TRUE(ranks.eventually([&] { return ranks[0].news.gone.count(2) == 1; }));
  EXPECT_EQ(ranks[0].news.gone[2].status, PH_ERR_PEER);
  EXPECT_NE(ranks[0].news.gone[2].what.find("without a bye"), std::string::npos)
      << ranks[0].news.gone[2].what;
}

TEST(TcpPoll, nonsense_of_a_rank_that_is_let_in_ends_that_rank_only) {
  const FrameHead nonsense[] = {
      {.kind = FrameKind{0}},
      {.kind = FrameKind{77}},
      {.kind = FrameKind::lines, .lines = 65},
      {.kind = FrameKind::lines, .lines = 1, .bytes = 0xffff'ffff},
      {.kind = FrameKind::done, .token = 1},
      {.kind = FrameKind::data, .bytes = 100, .token = 0x100},
      {.kind = FrameKind::bye, .bytes = kMostWordBytes + 1},
  };
  for (const FrameHead& head : nonsense) {
    TcpRanks ranks(3);
    ASSERT_TRUE(ranks.join(0, 2));
    FalseRank attacker(ranks, 1, 0);
    ASSERT_TRUE(attacker.is_open());
    attacker.say(head);
    ASSERT_TRUE(ranks.eventually([&] { return ranks[0].news.gone.count(1) == 1; }));
    EXPECT_EQ(ranks[0].news.gone[1].status, PH_ERR_PROTOCOL);
    EXPECT_TRUE(ranks.eventually([&] { return attacker.socket().is_closed(); }));
    ranks.settle();
    EXPECT_EQ(ranks[0].news.gone.count(2), 0u);
    EXPECT_TRUE(ranks[0].transport->connect(2));
  }
}

TEST(TcpPoll, fragments_of_a_rank_that_breaks_off_are_over_before_it_is_gone) {
  photon::test::GivenTime time;
  TcpRanks ranks(2, tcp_config(), {.time = time.source()});
  FalseRank killed(ranks, 1, 0);
  ASSERT_TRUE(ranks.eventually([&] { return ranks[0].news.links.count(1) == 1; }));
  std::byte own[8] = {};
  PostedFragment fragment;
  fragment.rank = 1;
  fragment.size_bytes = sizeof own;
  fragment.destination = own;
  fragment.token = 5;
  ASSERT_TRUE(ranks[0].transport->post(fragment));
  killed.socket().close();
  ASSERT_TRUE(ranks.eventually([&] {
    time.move_ns(1'000'000);  // its bootstrap may still say why
    return ranks[0].news.gone.count(1) == 1;
  }));
  EXPECT_EQ(ranks[0].news.done.at(5), PH_ERR_PEER);
}

TEST(TcpPoll, a_rank_that_the_bootstrap_says_is_gone_is_gone_although_it_never_connected) {
  TcpRanks ranks(2);
  ranks[0].to(1);
  ranks[1].transport.reset();
  ranks[1].boot.reset();
  ASSERT_TRUE(ranks.eventually([&] { return ranks[0].news.gone.count(1) == 1; }));
  EXPECT_EQ(ranks[0].news.gone[1].status, PH_ERR_PEER);
  ranks[0].transport->disconnect(1);
  EXPECT_FALSE(ranks[0].transport->connect(1));
}

}  // namespace
}  // namespace photon::transport::tcp::test
