#include "boot/tcp_side_channel.hpp"

#include "boot/limits.hpp"
#include "tcp_side_channel_ranks.hpp"

namespace photon::boot::test {
namespace {

using TcpSideChannelSending = TcpSideChannelTest;

TEST_F(TcpSideChannelSending, messages_arrive_whole_and_in_order_both_ways) {
  TcpSideChannelRanks ranks(3);
  std::vector<std::string> wanted;
  for (const std::size_t size : {0, 1, 7, 1023, 1024}) {
    const std::string text(size, 'm');
    ASSERT_TRUE(*ranks.send(0, 1, text));
    ASSERT_TRUE(*ranks.send(1, 0, text));
    ASSERT_TRUE(*ranks.send(2, 1, ""));
    wanted.push_back("0:" + text);
  }
  ASSERT_TRUE(ranks.eventually([&] { return ranks.got(1).size() == 10; }));
  std::vector<std::string> of_0;
  for (const std::string& one : ranks.got(1))
    if (one.starts_with("0:")) of_0.push_back(one);
  EXPECT_EQ(of_0, wanted);
  EXPECT_TRUE(ranks.eventually([&] { return ranks.got(0).size() == 5; }));
  EXPECT_TRUE(ranks[0].idle());
}

TEST_F(TcpSideChannelSending, what_the_socket_does_not_take_waits_for_room_in_it) {
  TcpSideChannelRanks ranks(2);
  ranks.join(0, 1);
  constexpr std::size_t kCount = 20'000;
  const std::string text(1000, 'x');
  for (std::size_t i = 0; i < kCount; ++i) ASSERT_TRUE(*ranks.send(0, 1, text));
  EXPECT_FALSE(ranks[0].idle());
  ASSERT_TRUE(ranks.eventually([&] { return ranks.got(1).size() == kCount; }));
  EXPECT_TRUE(ranks[0].idle());
}

TEST_F(TcpSideChannelSending, more_than_may_wait_is_back_pressure) {
  TcpSideChannelRanks ranks(2);
  for (std::size_t i = 0; i < kMaxQueuedMessages; ++i) ASSERT_TRUE(*ranks.send(0, 1, ""));
  EXPECT_EQ(ranks.send(0, 1, "").error().status, PH_AGAIN);
  EXPECT_TRUE(ranks.eventually([&] { return ranks.got(1).size() == kMaxQueuedMessages; }));
  EXPECT_TRUE(*ranks.send(0, 1, ""));
}

TEST_F(TcpSideChannelSending, who_ends_is_gone_after_its_last_message) {
  TcpSideChannelRanks ranks(2);
  ranks.join(0, 1);
  ASSERT_TRUE(*ranks.send(1, 0, "last"));
  ranks.drop(1);
  ASSERT_TRUE(
      ranks.eventually_got(0, {"1:last", "1 is gone: closed its connection without a bye"}));
  EXPECT_FALSE(ranks[0].has_left(1));
  EXPECT_FALSE(*ranks.send(0, 1, "anybody there?"));
}

// By its way to them, by theirs to it, and with the welcome of who comes afterwards.
TEST_F(TcpSideChannelSending, who_leaves_says_so_to_all_who_hear_of_its_end) {
  TcpSideChannelRanks ranks(4);
  ASSERT_TRUE(*ranks.send(0, 1, "hello"));
  ASSERT_TRUE(*ranks.send(2, 0, "hello"));
  ASSERT_TRUE(ranks.eventually([&] { return !ranks.got(1).empty() && !ranks.got(0).empty(); }));
  ranks[0].leave();
  ASSERT_TRUE(*ranks.send(3, 0, "late"));
  for (const Rank rank : {1U, 2U, 3U}) {
    EXPECT_TRUE(ranks.eventually([&] { return ranks[rank].has_left(0); })) << rank;
    EXPECT_EQ(ranks.got(rank).back(), "0 is gone: has left") << rank;
    EXPECT_FALSE(*ranks.send(rank, 0, "too late"));
  }
  EXPECT_TRUE(ranks[0].idle());
}

}  // namespace
}  // namespace photon::boot::test
