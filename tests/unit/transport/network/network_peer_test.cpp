#include "transport/network/network_peer.hpp"

#include <gtest/gtest.h>

namespace photon::transport::network {
namespace {

base::Config small() {
  base::Config config;
  config.ring_lines = 64;
  config.bulk_bytes = 8 << 10;
  return config;
}

TEST(NetworkPeerTest, is_given_one_link_that_stays_as_it_is) {
  NetworkPeer peer(3);
  EXPECT_EQ(peer.rank, 3u);
  EXPECT_FALSE(peer.is_linked);
  ASSERT_TRUE(peer.give_link(small(), false, true));
  EXPECT_TRUE(peer.is_linked);
  Link* const link = &peer.link->view();
  EXPECT_TRUE(link->post_kicks);
  EXPECT_EQ(link->rx_lines, nullptr);
  ASSERT_TRUE(peer.give_link(small(), false, false));
  EXPECT_EQ(&peer.link->view(), link);
  EXPECT_TRUE(link->post_kicks);
}

TEST(NetworkPeerTest, is_kicked_by_fragments_only_where_they_are_sent_with_records) {
  NetworkPeer peer(0);
  ASSERT_TRUE(peer.give_link(small(), true, false));
  EXPECT_FALSE(peer.link->view().post_kicks);
}

TEST(NetworkPeerTest, is_open_in_one_state_alone) {
  NetworkPeer peer(0);
  using State = NetworkPeer::State;
  for (const State state :
       {State::asked, State::dialing, State::handshake, State::open, State::ended}) {
    peer.state = state;
    EXPECT_EQ(peer.is_open(), state == State::open);
  }
}

}  // namespace
}  // namespace photon::transport::network
