// First contact and its end, between two transports.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "shm_pair.hpp"
#include "transport/shm/shm_offer.hpp"

namespace photon::transport::shm {
namespace {

using namespace test;

class ShmLinks : public ShmPairTest {};
INSTANTIATE_TEST_SUITE_P(process, ShmLinks, testing::Bool(), process_name);

TEST_P(ShmLinks, both_sides_meet_when_one_connects) {
  ShmPair pair(one_process());
  ASSERT_TRUE(pair.join());
  for (Rank me : {0U, 1U}) {
    const Link& link = pair[me].to(1 - me);
    EXPECT_NE(link.rx_lines, nullptr);
    EXPECT_NE(link.rx_credits, nullptr);
    EXPECT_NE(link.rx_bulk, nullptr);
    EXPECT_NE(link.rx_intent, nullptr);
    EXPECT_NE(link.peer_regions, nullptr);
    EXPECT_FALSE(link.kick_always);
    EXPECT_EQ(link.rx_lines == pair[1 - me].to(me).tx_lines, one_process());
  }
}

TEST_P(ShmLinks, both_sides_may_connect_at_the_same_time) {
  ShmPair pair(one_process());
  pair[0].to(1);
  pair[1].to(0);
  EXPECT_TRUE(pair.join());
}

TEST_P(ShmLinks, connect_is_idempotent) {
  ShmPair pair(one_process());
  const Link* before = &pair[0].to(1);
  ASSERT_TRUE(pair.join());
  EXPECT_EQ(&pair[0].to(1), before);
}

TEST_P(ShmLinks, records_posted_before_the_answer_arrive_in_order_and_credit_returns) {
  ShmPair pair(one_process());
  Producer producer = producer_of(pair[0].to(1));
  for (std::uint64_t i = 0; i < 40; ++i) post(producer, i);
  ASSERT_TRUE(pair.join());
  Consumer consumer = consumer_of(pair[1].to(0));
  for (std::uint64_t i = 0; i < 200; ++i) {
    ASSERT_EQ(consumer.peek(), Consumer::State::record) << i;
    ASSERT_EQ(consumer.line(0).words[0].get(), i);
    consumer.pop(1);
    consumer.publish_lines();
    post(producer, 40 + i);
  }
}

TEST_P(ShmLinks, bulk_bytes_intents_and_regions_are_seen_by_the_peer) {
  ShmPair pair(one_process());
  ASSERT_TRUE(pair.join());
  Link& mine = pair[0].to(1);
  const Link& theirs = pair[1].to(0);
  std::memset(mine.tx_bulk, 0x33, 8 << 10);
  EXPECT_EQ(theirs.rx_bulk[(8 << 10) - 1], std::byte{0x33});
  mine.tx_intent->enter(5, false);
  EXPECT_TRUE(theirs.rx_intent->names(5));
  mine.tx_intent->leave();
  pair[0].transport->regions()[63].publish(0x7f, {4096, 10, 1});
  sync::RegionView view;
  ASSERT_TRUE(theirs.peer_regions[63].read(0x7f, view));
  EXPECT_EQ(view.size_bytes, 10U);
}

TEST_P(ShmLinks, records_outlive_their_sender_and_gone_comes_behind_them) {
  ShmPair pair(one_process());
  Producer producer = producer_of(pair[0].to(1));
  post(producer, 123);
  pair.end(0);
  ASSERT_TRUE(pair.eventually([&] { return pair[1].news.gone.count(0) != 0; }));
  EXPECT_TRUE(pair[1].news.links.count(0));
  EXPECT_EQ(pair[1].news.gone[0].status, PH_ERR_PEER);
  Consumer consumer = consumer_of(pair[1].to(0));
  ASSERT_EQ(consumer.peek(), Consumer::State::record);
  EXPECT_EQ(consumer.line(0).words[0].get(), 123U);
  pair[1].transport->kick(0);  // harmless
  pair[1].transport->disconnect(0);
  EXPECT_FALSE(pair[1].transport->connect(0));
}

TEST_P(ShmLinks, a_sender_uses_its_half_on_after_the_peer_has_ended) {
  ShmPair pair(one_process());
  ASSERT_TRUE(pair.join());
  Producer producer = producer_of(pair[0].to(1));
  pair.end(1);
  for (std::uint64_t i = 0; i < 64; ++i) post(producer, i);
  EXPECT_FALSE(producer.has_room(1));
  pair[0].transport->kick(1);
}

TEST(ShmLinksAlone, a_link_to_oneself_has_both_halves_at_once) {
  ShmPair pair(true);
  Link& link = pair[0].to(0);
  Producer producer = producer_of(link);
  Consumer consumer = consumer_of(link);
  post(producer, 3);
  EXPECT_EQ(consumer.peek(), Consumer::State::record);
  pair[0].transport->kick(0);
  pair[0].poll();
  EXPECT_TRUE(pair[0].news.links.count(0));
  EXPECT_TRUE(pair[0].news.activity.count(0));
  int here = 0;
  EXPECT_EQ(pair[0].transport->reach(0, reinterpret_cast<std::uintptr_t>(&here), 4).local,
            reinterpret_cast<std::byte*>(&here));
  ph_path path = {};
  pair[0].transport->describe(0, path);
  EXPECT_STREQ(path.transport, "self");
}

TEST(ShmLinksAlone, ranks_with_different_settings_are_both_told_which) {
  base::Config other = small_config();
  other.ledger_slots = 256;
  ShmPair pair(false, small_config(), other);
  pair[0].to(1);
  ASSERT_TRUE(
      pair.eventually([&] { return pair[0].news.gone.count(1) && pair[1].news.gone.count(0); }));
  EXPECT_EQ(pair[0].news.gone[1].status, PH_ERR_BOOTSTRAP);
  EXPECT_NE(pair[0].news.gone[1].what.find("ledger_slots: 512 here, 256"), std::string::npos);
  EXPECT_NE(pair[1].news.gone[0].what.find("ledger_slots: 256 here, 512"), std::string::npos);
  EXPECT_TRUE(pair[0].news.links.empty());
  const auto again = pair[0].transport->connect(1);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().status, PH_ERR_BOOTSTRAP);
}

TEST(ShmLinksAlone, an_offer_that_is_none_ends_that_peer_only) {
  ShmPair pair(false);
  boot::Message garbage;
  garbage.from = 1;
  garbage.bytes.resize(200, std::byte{0x11});
  pair.job().send(0, std::move(garbage));
  ASSERT_TRUE(pair.eventually([&] { return pair[0].news.gone.count(1) != 0; }));
  EXPECT_EQ(pair[0].news.gone[1].status, PH_ERR_PROTOCOL);
  pair[0].to(0);
}

TEST(ShmLinksAlone, an_offer_without_its_descriptors_ends_that_peer) {
  ShmPair pair(false);
  Offer offer = describe_settings(small_config(), 2);
  offer.pid = 1;
  boot::Message message;
  message.from = 1;
  const auto bytes = encode(offer);
  message.bytes.assign(bytes.begin(), bytes.end());
  pair.job().send(0, std::move(message));
  ASSERT_TRUE(pair.eventually([&] { return pair[0].news.gone.count(1) != 0; }));
  EXPECT_NE(pair[0].news.gone[1].what.find("0 descriptors"), std::string::npos);
  EXPECT_NE(pair[0].news.gone[1].what.find("RLIMIT_NOFILE"), std::string::npos);
}

TEST(ShmLinksAlone, a_rank_that_ended_cannot_be_connected) {
  ShmPair pair(true);
  pair.end(1);
  const auto link = pair[0].transport->connect(1);
  ASSERT_FALSE(link);
  EXPECT_EQ(link.error().status, PH_ERR_PEER);
  EXPECT_EQ(link.error().rank, 1U);
  EXPECT_EQ(pair[0].transport->connect(2).error().status, PH_ERR_RANK);
}

TEST(ShmLinksAlone, offers_that_nobody_reads_are_released_with_the_job) {
  ShmPair pair(true);
  pair[0].to(1);
  pair.end(0);  // rank 1 never polls; a leak checker would find what is kept
}

}  // namespace
}  // namespace photon::transport::shm
