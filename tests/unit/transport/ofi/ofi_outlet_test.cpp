// What an outlet composes, an inlet takes: links of the two sides with nothing between them.
#include "transport/ofi/ofi_outlet.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "transport/ofi/fabric.hpp"
#include "transport/ofi/ofi_inlet.hpp"

namespace photon::transport::ofi {
namespace {

class OfiOutlet : public testing::Test {
 protected:
  static base::Config config() {
    base::Config config;
    config.ring_lines = 64;
    config.bulk_bytes = 32 << 10;
    return config;
  }
  void publish(wire::Kind kind, std::uint64_t third_word) {
    producer_.line(0).words[2].set(third_word);
    producer_.publish(wire::encode(kind, wire::kNoId, 0), wire::lines_for(kind, wire::kNoId, 0));
  }
  // The next message, and its bytes.
  std::size_t compose() {
    const std::size_t bytes = outlet_.compose(room_, *link_, {.key = 3, .sequence = ++sequence_});
    std::memcpy(&head_, room_.data(), sizeof head_);
    return bytes;
  }

  std::unique_ptr<network::RingOverNetwork> link_ =
      std::move(*network::RingOverNetwork::make(config(), false));
  sync::LineProducer<Policy> producer_{link_->view().tx_lines, link_->view().tx_credits, 6};
  std::vector<std::byte> room_ = std::vector<std::byte>(kLeastMessageBytes);
  std::uint32_t sequence_ = 0;
  MessageHead head_;
  Outlet outlet_;
};

TEST_F(OfiOutlet, nothing_is_no_message) {
  EXPECT_TRUE(outlet_.is_idle(*link_));
  EXPECT_EQ(compose(), 0u);
}

TEST_F(OfiOutlet, records_go_together) {
  for (int i = 0; i < 5; ++i) publish(wire::Kind::bye, 0);
  EXPECT_EQ(compose(), sizeof head_ + 5 * 64);
  EXPECT_EQ(head_.kind, MessageKind::lines);
  EXPECT_EQ(head_.lines, 5u);
  EXPECT_EQ(head_.key, 3u);
  EXPECT_TRUE(outlet_.is_idle(*link_));
}

TEST_F(OfiOutlet, as_many_records_as_the_message_holds) {
  for (int i = 0; i < 64; ++i) publish(wire::Kind::bye, 0);
  EXPECT_LE(compose(), room_.size());
  const unsigned first = head_.lines;
  EXPECT_LT(first, 64u);
  while (compose() != 0) EXPECT_EQ(head_.kind, MessageKind::lines);
}

TEST_F(OfiOutlet, a_chunk_longer_than_a_message_goes_in_parts_and_the_last_one_with_its_record) {
  std::memset(link_->view().tx_bulk, 0x5a, 10'000);
  publish(wire::Kind::bulk, 10'000);
  std::size_t bulk_bytes = 0;
  const auto other = std::move(*network::RingOverNetwork::make(config(), false));
  Inlet inlet;
  for (;;) {
    const std::size_t bytes = compose();
    ASSERT_NE(bytes, 0u);
    EXPECT_EQ(head_.bulk_bytes, 10'000u);
    const auto body = std::span(room_).first(bytes).subspan(sizeof head_);
    const auto took = inlet.take(head_, body, *other);
    bulk_bytes += body.size();
    if (head_.kind == MessageKind::lines) {
      EXPECT_EQ(took, Inlet::Took::news);
      break;
    }
    EXPECT_EQ(took, Inlet::Took::nothing);
  }
  EXPECT_EQ(bulk_bytes, 10'000u + std::size_t{head_.lines} * 64);
  other->set_answered();
  EXPECT_EQ(std::memcmp(other->view().rx_bulk, link_->view().tx_bulk, 10'000), 0);
}

TEST_F(OfiOutlet, credits_go_with_lines_or_alone) {
  link_->set_answered();
  link_->view().rx_credits->give_lines(7);
  EXPECT_EQ(compose(), sizeof head_ + sizeof(network::CreditBody));
  EXPECT_EQ(head_.kind, MessageKind::credits);
  link_->view().rx_credits->give_lines(8);
  publish(wire::Kind::bye, 0);
  EXPECT_EQ(compose(), sizeof head_ + sizeof(network::CreditBody) + 64);
  EXPECT_EQ(head_.kind, MessageKind::lines);
  EXPECT_EQ(head_.has_credits, 1u);
}

}  // namespace
}  // namespace photon::transport::ofi
