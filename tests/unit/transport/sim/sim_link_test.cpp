#include "transport/sim/sim_link.hpp"

#include <gtest/gtest.h>

#include "wire/record.hpp"

namespace photon::transport::sim {
namespace {

constexpr Geometry kGeometry{.lines_log2 = 6, .bulk_bytes = 8192};

// The engine's producer on a link's sending half.
class SimLinkTest : public testing::Test {
 protected:
  SimLinkTest() { link_.set_answered(); }

  void publish(wire::Kind kind, std::uint64_t third_word) {
    producer_.line(0).words[2].set(third_word);
    const std::uint64_t header = wire::encode(kind, wire::kNoId, 0);
    producer_.publish(header, wire::lines_for(kind, wire::kNoId, 0));
  }

  SimLink link_{0, kGeometry};
  sync::LineProducer<Policy> producer_{link_.view().tx_lines, link_.view().tx_credits, 6};
};

TEST_F(SimLinkTest, an_empty_ring_has_no_record_and_unchanged_credits_no_packet) {
  EXPECT_FALSE(link_.next_record());
  EXPECT_FALSE(link_.changed_credits());
}

TEST_F(SimLinkTest, a_record_is_taken_once_with_its_lines_and_position) {
  publish(wire::Kind::refused, 5);
  publish(wire::Kind::bye, 0);
  const auto first = link_.next_record();
  const auto second = link_.next_record();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->position, 0u);
  ASSERT_EQ(first->lines.size(), 1u);
  EXPECT_EQ(first->lines[0][3], 5u);
  EXPECT_TRUE(first->bulk.empty());
  EXPECT_EQ(second->position, 1u);
  EXPECT_FALSE(link_.next_record());
}

TEST_F(SimLinkTest, a_chunk_travels_with_its_record) {
  link_.view().tx_bulk[0] = std::byte{1};
  link_.view().tx_bulk[99] = std::byte{2};
  link_.view().tx_bulk[128] = std::byte{3};
  publish(wire::Kind::bulk, 100);
  publish(wire::Kind::get_data, 1);
  const auto first = link_.next_record();
  const auto second = link_.next_record();
  ASSERT_TRUE(first && second);
  ASSERT_EQ(first->bulk.size(), 100u);
  EXPECT_EQ(first->bulk[0], std::byte{1});
  EXPECT_EQ(first->bulk[99], std::byte{2});
  EXPECT_EQ(second->bulk_position, 128u);
  EXPECT_EQ(second->bulk, std::vector<std::byte>{std::byte{3}});
}

TEST_F(SimLinkTest, a_header_that_says_nothing_sensible_is_carried_and_ends_the_link) {
  producer_.publish(0xff0000, 1);
  publish(wire::Kind::bye, 0);
  const auto packet = link_.next_record();
  ASSERT_TRUE(packet);
  EXPECT_EQ(packet->lines.size(), 1u);
  EXPECT_EQ(packet->lines[0][0], 0xff0001u);
  EXPECT_FALSE(link_.next_record());
}

TEST_F(SimLinkTest, a_garbage_tag_is_carried_and_ends_the_link) {
  link_.view().tx_lines[0].head.store(0x1234, std::memory_order_relaxed);
  const auto packet = link_.next_record();
  ASSERT_TRUE(packet);
  EXPECT_EQ(packet->lines[0][0], 0x1234u);
  EXPECT_FALSE(link_.next_record());
}

TEST_F(SimLinkTest, a_chunk_larger_than_any_ring_is_announced_without_bytes_and_ends_the_link) {
  publish(wire::Kind::bulk, 8193);
  publish(wire::Kind::bye, 0);
  const auto packet = link_.next_record();
  ASSERT_TRUE(packet);
  EXPECT_TRUE(packet->bulk.empty());
  EXPECT_FALSE(link_.next_record());
}

TEST_F(SimLinkTest, what_is_delivered_stands_where_the_engine_reads) {
  link_.view().tx_bulk[0] = std::byte{9};
  publish(wire::Kind::bulk, 1);
  SimLink receiver(1, kGeometry);
  receiver.set_answered();
  receiver.deliver(*link_.next_record());
  sync::LineConsumer<Policy> consumer(receiver.view().rx_lines, receiver.view().rx_credits, 6);
  ASSERT_EQ(consumer.peek(), sync::LineConsumer<Policy>::State::record);
  EXPECT_EQ(consumer.line(0).words[2].get(), 1u);
  EXPECT_EQ(receiver.view().rx_bulk[0], std::byte{9});
}

TEST_F(SimLinkTest, each_credit_word_travels_when_it_changed) {
  link_.view().rx_credits->lines.store(1, std::memory_order_relaxed);
  link_.view().rx_credits->ledger.store(2, std::memory_order_relaxed);
  link_.view().rx_credits->bulk.store(3, std::memory_order_relaxed);
  const auto packet = link_.changed_credits();
  ASSERT_TRUE(packet);
  EXPECT_FALSE(link_.changed_credits());
  SimLink sender(1, kGeometry);
  sender.deliver(*packet);
  EXPECT_EQ(sender.view().tx_credits->lines.load(std::memory_order_relaxed), 1u);
  EXPECT_EQ(sender.view().tx_credits->ledger.load(std::memory_order_relaxed), 2u);
  EXPECT_EQ(sender.view().tx_credits->bulk.load(std::memory_order_relaxed), 3u);
}

TEST_F(SimLinkTest, a_sender_that_overruns_its_credit_is_a_broken_invariant) {
  SimLink receiver(1, kGeometry);
  receiver.set_answered();
  Packet packet{.kind = Packet::Kind::record, .position = 64};
  packet.lines.resize(1);
  EXPECT_DEATH(receiver.deliver(packet), "broken invariant: a sender writes no line");
}

TEST_F(SimLinkTest, a_sender_that_overruns_its_bulk_credit_is_a_broken_invariant) {
  SimLink receiver(1, kGeometry);
  receiver.set_answered();
  Packet packet{.kind = Packet::Kind::record, .bulk_position = 8192};
  packet.lines.resize(1);
  packet.bulk.resize(1);
  EXPECT_DEATH(receiver.deliver(packet), "broken invariant: a sender writes no bulk bytes");
}

}  // namespace
}  // namespace photon::transport::sim
