// Whatever a rank that knows the secret may send, nothing is placed that was not asked for.
#include "transport/ofi/ofi_inlet.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace photon::transport::ofi {
namespace {

using Took = Inlet::Took;

class OfiInlet : public testing::Test {
 protected:
  static base::Config config() {
    base::Config config;
    config.ring_lines = 64;
    config.bulk_bytes = 8192;
    return config;
  }
  Took take(MessageHead head, std::size_t body_bytes) {
    head.sequence = ++sequence_;
    return inlet_.take(head, std::vector<std::byte>(body_bytes), *link_);
  }

  std::unique_ptr<network::RingOverNetwork> link_ =
      std::move(*network::RingOverNetwork::make(config(), false));
  std::uint32_t sequence_ = 0;
  Inlet inlet_;
};

TEST_F(OfiInlet, takes_lines_up_to_the_credit_and_no_more) {
  EXPECT_EQ(take({.kind = MessageKind::lines, .lines = 64}, 64 * 64), Took::news);
  EXPECT_EQ(take({.kind = MessageKind::lines, .lines = 1}, 64), Took::garbage);
}

TEST_F(OfiInlet, takes_no_length_but_the_one_its_head_says) {
  for (const std::size_t bytes : {0u, 63u, 65u, 128u}) {
    Inlet fresh;
    EXPECT_EQ(fresh.take({.sequence = 1, .kind = MessageKind::lines, .lines = 1},
                         std::vector<std::byte>(bytes), *link_),
              Took::garbage)
        << bytes;
  }
}

TEST_F(OfiInlet, takes_no_chunk_larger_than_the_ring_and_no_part_beyond_its_end) {
  EXPECT_EQ(take({.kind = MessageKind::bulk, .lines = 1, .bulk_bytes = 8193}, 100), Took::garbage);
  inlet_ = {};
  sequence_ = 0;
  EXPECT_EQ(take({.kind = MessageKind::bulk, .lines = 1, .bulk_bytes = 4000}, 3000), Took::nothing);
  EXPECT_EQ(take({.kind = MessageKind::bulk, .lines = 1, .bulk_bytes = 4000}, 1001), Took::garbage);
}

TEST_F(OfiInlet, takes_nothing_else_between_the_parts_of_a_chunk) {
  EXPECT_EQ(take({.kind = MessageKind::bulk, .lines = 1, .bulk_bytes = 4000}, 3000), Took::nothing);
  EXPECT_EQ(take({.kind = MessageKind::lines, .lines = 1}, 64), Took::garbage);
  EXPECT_EQ(take({.kind = MessageKind::bye}, 0), Took::garbage);
}

TEST_F(OfiInlet, knows_what_is_missing_by_the_sequence) {
  EXPECT_EQ(inlet_.take({.sequence = 2, .kind = MessageKind::bye}, {}, *link_), Took::disorder);
}

TEST_F(OfiInlet, takes_credits_and_byes) {
  EXPECT_EQ(take({.kind = MessageKind::credits}, 0), Took::garbage);
  EXPECT_EQ(take({.kind = MessageKind::credits, .has_credits = 1}, 23), Took::garbage);
  EXPECT_EQ(take({.kind = MessageKind::credits, .has_credits = 1}, 24), Took::news);
  EXPECT_EQ(take({.kind = MessageKind::credits, .has_credits = 2}, 24), Took::garbage);
  EXPECT_EQ(take({.kind = MessageKind::hello}, 0), Took::garbage);
  EXPECT_EQ(take({.kind = static_cast<MessageKind>(77)}, 0), Took::garbage);
  EXPECT_EQ(take({.kind = MessageKind::bye}, 0), Took::bye);
  EXPECT_EQ(take({.kind = MessageKind::bye, .lines = 1}, 0), Took::left);
  EXPECT_EQ(take({.kind = MessageKind::bye, .lines = 2}, 0), Took::garbage);
}

}  // namespace
}  // namespace photon::transport::ofi
