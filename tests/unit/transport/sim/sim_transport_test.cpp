// What is particular to sim; what every transport must do is in tests/conformance.
#include "transport/sim/sim_transport.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "wire/record.hpp"

namespace photon::transport::sim {
namespace {

// Writes down everything that poll() reports.
class Diary final : public Sink {
 public:
  void on_link(Rank rank) override { text += "link " + std::to_string(rank) + "\n"; }
  void on_activity(Rank rank) override { text += "activity " + std::to_string(rank) + "\n"; }
  void on_gone(Rank rank, const base::Error&) override {
    text += "gone " + std::to_string(rank) + "\n";
  }
  std::string text;
};

base::Config small(std::uint64_t seed) {
  base::Config config;
  config.ring_lines = 64;
  config.bulk_bytes = 8192;
  config.max_regions = 16;
  config.sim_seed = seed;
  config.sim_delay_ns = 5000;
  return config;
}

struct Ranks {
  explicit Ranks(std::uint32_t count, std::uint64_t seed = 1)
      : network(std::make_shared<SimNetwork>(count, SimNetwork::Settings{seed, 5000})) {
    for (Rank rank = 0; rank < count; ++rank)
      all.push_back(std::make_unique<SimTransport>(small(seed), rank, network));
  }
  std::shared_ptr<SimNetwork> network;
  std::vector<std::unique_ptr<SimTransport>> all;
};

// A one-line record on a fresh producer: `number` says how many came before.
void send(SimTransport& from, Rank to, std::uint64_t number) {
  Link& link = **from.connect(to);
  Line& line = link.tx_lines[number & 63];
  line.head.store(wire::encode(wire::Kind::bye, wire::kNoId, 0) | sync::lap_tag(number, 6),
                  std::memory_order_release);
  from.kick(to);
}

// What all ranks are told in a run of 30 records on each link, on the simulated clock.
std::string run(std::uint64_t seed) {
  Ranks ranks(4, seed);
  std::string text;
  for (std::uint64_t step = 0; step < 300; ++step) {
    for (Rank from = 0; from < 4; ++from) {
      for (Rank to = 0; to < 4 && step < 30; ++to) send(*ranks.all[from], to, step);
      Diary diary;
      ranks.all[from]->poll(diary);
      text += std::to_string(ranks.network->now_ns()) + ":\n" + diary.text;
    }
  }
  return text;
}

TEST(SimTransportTest, a_run_on_one_thread_is_a_function_of_its_seed) {
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

TEST(SimTransportTest, nothing_is_told_but_by_poll) {
  Ranks ranks(2);
  send(*ranks.all[0], 1, 0);
  const Link& link = **ranks.all[1]->connect(0);
  EXPECT_EQ(link.rx_lines, nullptr);
  Diary diary;
  for (unsigned i = 0; i < 1000; ++i) ranks.all[1]->poll(diary);
  EXPECT_NE(link.rx_lines, nullptr);
  EXPECT_EQ(diary.text, "link 0\nactivity 0\n");
}

TEST(SimTransportTest, a_record_that_was_not_kicked_stays) {
  Ranks ranks(2);
  Link& link = **ranks.all[0]->connect(1);
  link.tx_lines[0].head.store(wire::encode(wire::Kind::bye, wire::kNoId, 0) | 1,
                              std::memory_order_release);
  Diary diary;
  for (unsigned i = 0; i < 1000; ++i) ranks.all[1]->poll(diary);
  EXPECT_EQ(diary.text, "link 0\n");
}

TEST(SimTransportTest, a_released_link_stays_released) {
  Ranks ranks(2);
  ASSERT_TRUE(ranks.all[0]->connect(1));
  ranks.all[0]->disconnect(1);
  const auto again = ranks.all[0]->connect(1);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().status, PH_ERR_PEER);
  EXPECT_EQ(again.error().rank, 1u);
}

TEST(SimTransportTest, garbage_in_a_ring_arrives_as_garbage) {
  Ranks ranks(2);
  (*ranks.all[0]->connect(1))->tx_lines[0].head.store(0xdead, std::memory_order_relaxed);
  ranks.all[0]->kick(1);
  Diary diary;
  for (unsigned i = 0; i < 1000; ++i) ranks.all[1]->poll(diary);
  const Link& link = **ranks.all[1]->connect(0);
  sync::LineConsumer<Policy> consumer(link.rx_lines, link.rx_credits, 6);
  EXPECT_EQ(consumer.peek(), sync::LineConsumer<Policy>::State::garbage);
}

TEST(SimTransportTest, a_call_to_a_peers_memory_names_the_rank) {
  Ranks ranks(2);
  std::byte bytes[8] = {};
  EXPECT_EQ(ranks.all[0]->read(1, 4096, bytes).error().rank, 1u);
  EXPECT_EQ(ranks.all[0]->write(1, 4096, bytes).error().rank, 1u);
  EXPECT_EQ(ranks.all[0]->reach(1, 4096, 8).kind, Reach::Kind::none);
}

}  // namespace
}  // namespace photon::transport::sim
