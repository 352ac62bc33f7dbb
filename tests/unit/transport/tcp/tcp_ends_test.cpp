// What a peer is told of its end, whatever holds up the ways to it.
#include <cerrno>

#include "tcp_ranks.hpp"
#include "wire/record.hpp"

namespace photon::transport::tcp::test {
namespace {

constexpr std::size_t kFragmentBytes = 1 << 20;

class TcpEnds : public testing::Test {
 protected:
  // Rank 1 reads nothing until the socket of rank 0 takes no more.
  void fill_socket() {
    PostedFragment fragment = fragment_to_rank_1(ranks_, source_, to_);
    while (ranks_[0].transport->post(fragment)) ++fragment.token;
    ASSERT_FALSE(ranks_[0].transport->drained());
  }
  void expect_told() {
    ASSERT_TRUE(ranks_.eventually([&] { return ranks_[1].news.gone.count(0) == 1; }));
    const base::Error& why = ranks_[1].news.gone[0];
    EXPECT_EQ(why.what, "tcp: rank 0 has cut this rank off: it said nonsense");
    EXPECT_EQ(why.status, PH_ERR_PEER);
    EXPECT_EQ(why.native_errno, ECONNABORTED);
  }

  std::vector<std::byte> source_ = std::vector<std::byte>(kFragmentBytes, std::byte{1});
  std::vector<std::byte> to_ = std::vector<std::byte>(kFragmentBytes);
  TcpRanks ranks_{2};
};

TEST_F(TcpEnds, who_is_cut_off_behind_a_full_socket_is_told_so_and_why) {
  ASSERT_TRUE(ranks_.join(0, 1));
  fill_socket();
  ranks_[0].transport->cut_off(1, "it said nonsense");
  expect_told();
}

TEST_F(TcpEnds, who_is_cut_off_before_it_was_met_is_told_so_and_why) {
  ranks_[0].to(1);
  ranks_[1].to(0);
  ranks_[0].transport->cut_off(1, "it said nonsense");
  expect_told();
}

TEST_F(TcpEnds, who_is_cut_off_while_the_bootstrap_is_full_is_told_when_it_has_room) {
  ranks_[0].to(1);
  ranks_[1].to(0);
  ranks_.job().set_full(true);
  ranks_[0].transport->cut_off(1, "it said nonsense");
  ranks_.settle();
  EXPECT_FALSE(ranks_[0].transport->drained());
  EXPECT_TRUE(ranks_[1].news.gone.empty());
  ranks_.job().set_full(false);
  expect_told();
  EXPECT_TRUE(ranks_[0].transport->drained());
}

// The word of the bootstrap may be there before the last of the stream.
TEST_F(TcpEnds, what_was_sent_before_a_cut_off_is_read_although_the_word_of_it_comes_first) {
  ASSERT_TRUE(ranks_.join(0, 1));
  sync::LineProducer<Policy> producer(ranks_[0].to(1).tx_lines, ranks_[0].to(1).tx_credits, 6);
  for (int i = 0; i < 40; ++i) producer.publish(wire::encode(wire::Kind::bye, wire::kNoId, 0), 1);
  ranks_[0].transport->kick(1);
  Link& link = ranks_[1].to(0);
  ranks_[0].transport->cut_off(1, "it said nonsense");
  expect_told();
  EXPECT_NE(link.rx_lines[39].tag_word(), 0u);
}

}  // namespace
}  // namespace photon::transport::tcp::test
