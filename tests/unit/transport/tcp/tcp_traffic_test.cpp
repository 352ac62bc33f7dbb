// When what was kicked leaves, and what becomes of fragments.
#include "tcp_ranks.hpp"
#include "wire/record.hpp"

namespace photon::transport::tcp::test {
namespace {

class TcpTraffic : public testing::Test {
 protected:
  TcpTraffic() { EXPECT_TRUE(ranks_.join(0, 1)); }

  void publish(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      producer_.publish(wire::encode(wire::Kind::bye, wire::kNoId, 0), 1);
      ranks_[0].transport->kick(1);
    }
  }
  bool has_come(std::uint64_t count) { return ranks_[1].to(0).rx_lines[count - 1].tag_word() != 0; }
  std::uint64_t expose(std::span<std::byte> memory) {
    ranks_[1].transport->regions()[5].publish(
        5, {reinterpret_cast<std::uintptr_t>(memory.data()), memory.size(), PH_ACCESS_ALL});
    return 5;
  }
  PostedFragment write(std::span<const std::byte> source, std::span<std::byte> to) {
    PostedFragment fragment;
    fragment.rank = 1;
    fragment.address = reinterpret_cast<std::uintptr_t>(to.data());
    fragment.key = 5;
    fragment.size_bytes = source.size();
    fragment.source = source.data();
    fragment.token = ++tokens_;
    return fragment;
  }

  TcpRanks ranks_{2};
  sync::LineProducer<Policy> producer_{ranks_[0].to(1).tx_lines, ranks_[0].to(1).tx_credits, 6};
  std::uint64_t tokens_ = 0;
};

// The sender makes no call any more after its kicks.
TEST_F(TcpTraffic, whatever_was_kicked_arrives_although_its_rank_never_calls_again) {
  publish(40);
  while (!has_come(40)) ranks_[1].transport->poll(ranks_[1].news);
}

TEST_F(TcpTraffic, a_first_message_arrives_although_its_rank_never_calls_again) {
  TcpRanks ranks(2);
  Link& link = ranks[1].to(0);
  sync::LineProducer<Policy> producer(link.tx_lines, link.tx_credits, 6);
  producer.publish(wire::encode(wire::Kind::bye, wire::kNoId, 0), 1);
  ranks[1].transport->kick(0);
  while (ranks[0].news.links.count(1) == 0 || ranks[0].to(1).rx_lines[0].tag_word() == 0)
    ranks[0].transport->poll(ranks[0].news);
}

TEST_F(TcpTraffic, credits_arrive_although_their_rank_never_calls_again) {
  publish(5);
  ASSERT_TRUE(ranks_.eventually([&] { return has_come(5); }));
  ranks_[1].to(0).rx_credits->give_lines(5);
  ranks_[1].transport->kick_later(0);
  while (ranks_[0].to(1).tx_credits->lines_given() != 5) ranks_[0].transport->poll(ranks_[0].news);
}

// (Seldom the flusher has sent them before we look.)
TEST_F(TcpTraffic, credits_that_may_wait_are_held) {
  publish(60);
  ASSERT_TRUE(ranks_.eventually([&] { return has_come(60); }));
  unsigned held = 0;
  for (std::uint64_t i = 1; i <= 60 && held == 0; ++i) {
    ranks_[1].to(0).rx_credits->give_lines(i);
    ranks_[1].transport->kick_later(0);
    if (!ranks_[1].transport->drained()) ++held;
  }
  EXPECT_EQ(held, 1u);
}

// Its owner answers a message first, and frees the write's memory then.
TEST_F(TcpTraffic, the_end_of_a_write_waits_for_what_came_with_it_and_no_longer) {
  std::vector<std::byte> source(100, std::byte{1}), to(100);
  expose(to);
  sync::LineProducer<Policy> back(ranks_[1].to(0).tx_lines, ranks_[1].to(0).tx_credits, 6);
  TcpNews& news = ranks_[0].news;
  unsigned came_together = 0;
  // The flusher may have sent the answer alone.
  for (unsigned round = 0; came_together == 0; ++round) {
    ASSERT_LT(round, 60u) << "the ring has no more lines";
    news.activity.clear();
    ASSERT_TRUE(ranks_[0].transport->post(write(source, to)));
    while (to[0] == std::byte{0}) ranks_[1].transport->poll(ranks_[1].news);
    back.publish(wire::encode(wire::Kind::bye, wire::kNoId, 0), 1);
    ranks_[1].transport->kick(0);
    bool is_over = false;
    while (news.activity[1] == 0) {
      is_over = news.done.count(tokens_) != 0;
      ranks_[0].transport->poll(news);
    }
    if (!is_over) {
      EXPECT_EQ(news.done.count(tokens_), 0u);
      ranks_[0].transport->poll(news);
      came_together += static_cast<unsigned>(news.done.count(tokens_));
    }
    ASSERT_TRUE(ranks_.eventually([&] { return news.done.count(tokens_) != 0; }));
    to[0] = std::byte{0};
  }
}

TEST_F(TcpTraffic, kicks_one_after_the_other_share_sends_and_arrive_in_order) {
  publish(64);
  EXPECT_FALSE(producer_.has_room(1));
  ASSERT_TRUE(ranks_.eventually([&] { return has_come(64); }));
}

// 16 fragments of a peer at a time, whoever is slow.
TEST_F(TcpTraffic, a_full_queue_says_so_and_has_room_again_after_an_answer) {
  std::vector<std::byte> source(100, std::byte{1}), to(100);
  expose(to);
  for (std::uint32_t i = 0; i < kMostFragments; ++i)
    ASSERT_TRUE(ranks_[0].transport->post(write(source, to)));
  EXPECT_FALSE(ranks_[0].transport->post(write(source, to)));
  ASSERT_TRUE(ranks_.eventually([&] { return ranks_[0].news.done.size() == kMostFragments; }));
  EXPECT_TRUE(ranks_[0].transport->post(write(source, to)));
}

TEST_F(TcpTraffic, a_large_fragment_is_cut_off_in_its_middle_by_quiesce) {
  std::vector<std::byte> source(32 << 20, std::byte{1}), to(32 << 20);
  expose(to);
  ASSERT_TRUE(ranks_[0].transport->post(write(source, to)));
  ASSERT_TRUE(ranks_.eventually([&] { return to[0] == std::byte{1}; }));
  ranks_[1].transport->regions()[5].revoke();
  ranks_[1].transport->quiesce();
  const auto before = to;
  EXPECT_EQ(before.back(), std::byte{0}) << "it was too small to be caught";
  ASSERT_TRUE(ranks_.eventually([&] { return ranks_[0].news.done.size() == 1; }));
  EXPECT_EQ(ranks_[0].news.done[1], PH_ERR_KEY);
  EXPECT_EQ(to, before);
}

TEST_F(TcpTraffic, a_fragment_of_a_size_that_no_frame_holds_is_over_at_once) {
  std::vector<std::byte> source(1), to(1);
  PostedFragment fragment = write(source, to);
  fragment.size_bytes = kMostFragmentBytes + 1;
  ASSERT_TRUE(ranks_[0].transport->post(fragment));
  ASSERT_TRUE(ranks_.eventually([&] { return ranks_[0].news.done.size() == 1; }));
  EXPECT_EQ(ranks_[0].news.done[1], PH_ERR_RANGE);
}

TEST_F(TcpTraffic, memory_is_reached_by_posting_only) {
  std::byte byte{};
  EXPECT_EQ(ranks_[0].transport->reach(1, 0, 1).kind, Reach::Kind::posted);
  EXPECT_FALSE(ranks_[0].transport->read(1, 0, {&byte, 1}));
  EXPECT_FALSE(ranks_[0].transport->write(1, 0, {&byte, 1}));
}

}  // namespace
}  // namespace photon::transport::tcp::test
