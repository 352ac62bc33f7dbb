#include "transport/network/ring_over_network.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "wire/record.hpp"

namespace photon::transport::network {
namespace {

base::Config link_config() {
  base::Config config;
  config.ring_lines = 64;
  config.bulk_bytes = 8192;
  return config;
}

class RingOverNetworkTest : public testing::Test {
 protected:
  RingOverNetworkTest() { link_->set_answered(); }

  void publish(wire::Kind kind, std::uint64_t third_word) {
    producer_.line(0).words[2].set(third_word);
    producer_.publish(wire::encode(kind, wire::kNoId, 0), wire::lines_for(kind, wire::kNoId, 0));
  }
  // Lines as they come from a peer.
  static std::vector<std::byte> lines(std::uint64_t header, std::uint32_t count,
                                      std::uint64_t tag = 1) {
    std::vector<std::byte> bytes(std::size_t{count} * kLineBytes, std::byte{7});
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint64_t word = i == 0 ? header | tag : tag;
      std::memcpy(bytes.data() + std::size_t{i} * kLineBytes, &word, sizeof word);
    }
    return bytes;
  }
  bool begins(std::uint32_t count, std::uint32_t bulk_bytes) {
    std::byte* bulk = nullptr;
    return link_->begin_lines(count, bulk_bytes, bulk);
  }

  std::unique_ptr<RingOverNetwork> link_ = std::move(*RingOverNetwork::make(link_config(), false));
  sync::LineProducer<Policy> producer_{link_->view().tx_lines, link_->view().tx_credits, 6};
};

TEST_F(RingOverNetworkTest, records_without_bulk_go_as_one_run_from_where_they_lie) {
  EXPECT_FALSE(link_->has_run());
  publish(wire::Kind::refused, 5);
  publish(wire::Kind::bye, 0);
  ASSERT_TRUE(link_->has_run());
  const auto run = link_->next_run();
  EXPECT_EQ(run.lines_count, 2u);
  EXPECT_EQ(run.lines[0].data(), reinterpret_cast<const std::byte*>(link_->view().tx_lines));
  EXPECT_EQ(run.lines[0].size(), 128u);
  EXPECT_TRUE(run.lines[1].empty());
  EXPECT_FALSE(link_->has_run());
}

TEST_F(RingOverNetworkTest, a_chunk_goes_with_its_record_in_a_run_of_its_own) {
  publish(wire::Kind::bye, 0);
  publish(wire::Kind::bulk, 100);
  publish(wire::Kind::get_data, 1);
  EXPECT_TRUE(link_->next_run().bulk.empty());
  const auto first = link_->next_run(), second = link_->next_run();
  EXPECT_EQ(first.bulk.data(), link_->view().tx_bulk);
  EXPECT_EQ(first.bulk.size(), 100u);
  EXPECT_EQ(second.bulk.data(), link_->view().tx_bulk + 128);
  EXPECT_EQ(second.lines_count, 1u);
}

TEST_F(RingOverNetworkTest, a_run_over_the_rings_end_has_two_parts) {
  for (int i = 0; i < 60; ++i) publish(wire::Kind::bye, 0);
  EXPECT_EQ(link_->next_run().lines_count, 60u);
  link_->take_credits({60, 0, 0});
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(producer_.has_room(1));
    publish(wire::Kind::bye, 0);
  }
  const auto run = link_->next_run();
  EXPECT_EQ(run.lines[0].size(), 4u * kLineBytes);
  EXPECT_EQ(run.lines[1].size(), 6u * kLineBytes);
}

TEST_F(RingOverNetworkTest, a_header_that_says_nothing_sensible_is_carried_and_is_the_last) {
  producer_.publish(0xff0000, 1);
  publish(wire::Kind::bye, 0);
  EXPECT_EQ(link_->next_run().lines_count, 1u);
  EXPECT_FALSE(link_->has_run());
}

TEST_F(RingOverNetworkTest, credits_are_told_when_they_changed_and_never_go_back) {
  EXPECT_FALSE(link_->changed_credits());
  link_->view().rx_credits->give_lines(5);
  ASSERT_TRUE(link_->changed_credits());
  EXPECT_FALSE(link_->changed_credits());
  link_->take_credits({7, 8, 9});
  link_->take_credits({1, 2, 3});
  EXPECT_EQ(link_->view().tx_credits->lines_given(), 7u);
  EXPECT_EQ(link_->view().tx_credits->ledger_given(), 8u);
  EXPECT_EQ(link_->view().tx_credits->bulk_given(), 9u);
}

TEST_F(RingOverNetworkTest, lines_beyond_the_credit_are_refused_before_any_is_placed) {
  EXPECT_FALSE(begins(0, 0));
  EXPECT_FALSE(begins(65, 0));
  EXPECT_FALSE(begins(0xffff, 0));
  ASSERT_TRUE(begins(64, 0));
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(link_->take_lines(lines(wire::encode(wire::Kind::bye, wire::kNoId, 0), 1)), 1u);
  EXPECT_FALSE(begins(1, 0));
  link_->view().rx_credits->give_lines(3);
  EXPECT_TRUE(begins(3, 0));
  EXPECT_FALSE(begins(4, 0));
}

TEST_F(RingOverNetworkTest, chunks_beyond_the_credit_or_the_ring_are_refused) {
  EXPECT_FALSE(begins(1, 8193));
  EXPECT_FALSE(begins(1, 0xffff'ffff));
  EXPECT_FALSE(begins(60, 64)) << "a chunk belongs to one record";
  EXPECT_TRUE(begins(1, 8000));
  EXPECT_FALSE(begins(1, 512));
  link_->view().rx_credits->give_bulk(8000);
  EXPECT_TRUE(begins(1, 512)) << "behind the end: at the beginning";
}

// Each rank has rings for each peer, most of which say little.
TEST(RingOverNetworkWarm, rings_that_were_never_used_take_no_memory_although_they_are_fetched) {
  base::Config config = link_config();
  config.bulk_bytes = 64 << 10;
  const auto link = std::move(*RingOverNetwork::make(config, false));
  link->set_answered();
  sync::LineProducer<Policy> producer(link->view().tx_lines, link->view().tx_credits, 6);
  producer.line(0).words[2].set(4096);
  producer.publish(wire::encode(wire::Kind::bulk, wire::kNoId, 0),
                   wire::lines_for(wire::Kind::bulk, wire::kNoId, 0));
  ASSERT_EQ(link->next_run().bulk.size(), 4096u);
  std::byte* bulk = nullptr;
  ASSERT_TRUE(link->begin_lines(1, 4096, bulk));
  link->warm();
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::byte* const rings[] = {link->view().tx_bulk, link->view().rx_bulk};
  for (const std::byte* ring : rings) {
    const std::uintptr_t begin = (reinterpret_cast<std::uintptr_t>(ring) + page - 1) / page * page;
    unsigned char resident[15] = {};
    ASSERT_EQ(::mincore(reinterpret_cast<void*>(begin), sizeof resident * page, resident), 0);
    for (const unsigned char there : resident) EXPECT_EQ(there & 1, 0);
  }
}

TEST_F(RingOverNetworkTest, a_record_is_placed_when_all_of_its_lines_are_there) {
  const std::uint64_t header = wire::encode(wire::Kind::put, wire::kNoId, 200);
  const std::uint32_t count = wire::lines_for(wire::Kind::put, wire::kNoId, 200);
  ASSERT_GT(count, 2u);
  ASSERT_TRUE(begins(count, 0));
  const auto bytes = lines(header, count);
  sync::LineConsumer<Policy> consumer(link_->view().rx_lines, nullptr, 6);
  EXPECT_EQ(link_->take_lines(std::span(bytes).first(bytes.size() - kLineBytes)), 0u);
  EXPECT_EQ(consumer.peek(), sync::LineConsumer<Policy>::State::empty);
  EXPECT_EQ(link_->take_lines(bytes), count);
  EXPECT_EQ(consumer.peek(), sync::LineConsumer<Policy>::State::record);
  EXPECT_TRUE(consumer.tagged(count - 1));
}

TEST_F(RingOverNetworkTest, garbage_is_placed_as_it_came) {
  ASSERT_TRUE(begins(1, 0));
  EXPECT_EQ(link_->take_lines(lines(0xff0000, 1, 0x55)), 1u);
  EXPECT_EQ(link_->view().rx_lines[0].tag_word(), 0xff0055u);
}

TEST(RingOverNetworkToSelf, both_halves_are_one) {
  const auto link = std::move(*RingOverNetwork::make(link_config(), true));
  link->set_answered();
  EXPECT_EQ(link->view().tx_lines, link->view().rx_lines);
  EXPECT_EQ(link->view().tx_bulk, link->view().rx_bulk);
}

}  // namespace
}  // namespace photon::transport::network
