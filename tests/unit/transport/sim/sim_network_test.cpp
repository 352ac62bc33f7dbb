#include "transport/sim/sim_network.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

#include "watchdog.hpp"

namespace photon::transport::sim {
namespace {

class SimNetworkTest : public testing::Test {
 private:
  test::Watchdog watchdog_{std::chrono::seconds(60)};
};

Packet numbered(Rank from, std::uint64_t number) {
  return {.kind = Packet::Kind::record, .from = from, .position = number};
}

// What arrives, in order, as "from:number@time", driven by one thread.
std::string history(std::uint64_t seed) {
  SimNetwork network(4, {seed, 5000});
  std::string text;
  std::vector<Packet> due;
  for (std::uint64_t step = 0; step < 400; ++step) {
    for (Rank from = 0; from < 4 && step < 100; ++from)
      network.post(static_cast<Rank>(step + from) % 4, numbered(from, step));
    network.take_due(step % 4, due);
    for (const Packet& packet : due)
      text += std::to_string(packet.from) + ":" + std::to_string(packet.position) + "@" +
              std::to_string(network.now_ns()) + " ";
    due.clear();
  }
  return text;
}

TEST_F(SimNetworkTest, one_seed_gives_one_history) { EXPECT_EQ(history(7), history(7)); }

TEST_F(SimNetworkTest, another_seed_gives_another_history) { EXPECT_NE(history(7), history(8)); }

TEST_F(SimNetworkTest, a_link_is_a_fifo_for_every_seed) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SimNetwork network(2, {seed, 100'000});
    std::vector<Packet> due;
    for (std::uint64_t i = 0; i < 100; ++i) network.post(1, numbered(0, i));
    while (due.size() < 100) network.take_due(1, due);
    for (std::uint64_t i = 0; i < 100; ++i) ASSERT_EQ(due[i].position, i) << "seed " << seed;
  }
}

TEST_F(SimNetworkTest, packets_of_different_senders_overtake_each_other) {
  SimNetwork network(3, {1, 100'000});
  std::vector<Packet> due;
  for (std::uint64_t i = 0; i < 50; ++i) {
    network.post(2, numbered(0, i));
    network.post(2, numbered(1, i));
  }
  while (due.size() < 100) network.take_due(2, due);
  bool overtaken = false;
  for (std::size_t i = 1; i < due.size(); ++i) overtaken |= due[i].position < due[i - 1].position;
  EXPECT_TRUE(overtaken);
}

TEST_F(SimNetworkTest, a_packet_waits_at_most_its_longest_delay) {
  SimNetwork network(2, {3, 10'000});
  std::vector<Packet> due;
  for (std::uint64_t i = 0; i < 50; ++i) {
    const std::uint64_t posted_ns = network.now_ns();
    network.post(1, numbered(0, i));
    while (due.empty()) network.take_due(1, due);
    EXPECT_LE(network.now_ns() - posted_ns, 10'000u + 50u);
    due.clear();
  }
}

TEST_F(SimNetworkTest, nobody_has_to_look_long_for_a_packet_that_is_far_away) {
  SimNetwork network(2, {1, 1'000'000'000});
  std::vector<Packet> due;
  unsigned looks = 0;
  for (std::uint64_t i = 0; i < 10; ++i) {
    network.post(1, numbered(0, i));
    for (due.clear(); due.empty(); ++looks) network.take_due(1, due);
  }
  EXPECT_LT(looks, 1000u);
}

TEST_F(SimNetworkTest, without_delay_a_packet_is_there_at_the_next_look) {
  SimNetwork network(2, {1, 0});
  std::vector<Packet> due;
  network.post(1, numbered(0, 1));
  network.take_due(1, due);
  EXPECT_EQ(due.size(), 1u);
}

TEST_F(SimNetworkTest, sleep_jumps_to_the_packet_that_is_on_its_way) {
  SimNetwork network(2, {1, 1'000'000'000});
  network.post(1, numbered(0, 1));
  network.sleep(1, PH_FOREVER);
  std::vector<Packet> due;
  network.take_due(1, due);
  EXPECT_EQ(due.size(), 1u);
}

TEST_F(SimNetworkTest, sleep_ends_at_its_timeout_a_wake_up_and_a_post) {
  SimNetwork network(2, {1, 0});
  network.sleep(1, 1000);
  network.wake(1);  // before the sleep: counts
  network.sleep(1, PH_FOREVER);
  for (const bool by_post : {false, true}) {
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      if (by_post)
        network.post(1, numbered(0, 1));
      else
        network.wake(1);
    });
    network.sleep(1, PH_FOREVER);
    other.join();
  }
}

TEST_F(SimNetworkTest, what_a_rank_posted_arrives_after_it_left_and_then_gone) {
  SimNetwork network(2, {1, 1000});
  network.post(1, numbered(0, 1));
  network.leave(0);
  EXPECT_TRUE(network.is_gone(0, 1));
  EXPECT_FALSE(network.is_gone(1, 0));
  std::vector<Packet> due;
  while (due.size() < 2) network.take_due(1, due);
  EXPECT_EQ(due[0].position, 1u);
  EXPECT_EQ(due[1].kind, Packet::Kind::gone);
}

TEST_F(SimNetworkTest, what_is_posted_to_a_rank_that_left_is_dropped) {
  SimNetwork network(2, {1, 0});
  network.post(1, numbered(0, 1));
  network.leave(1);
  network.post(1, numbered(0, 2));
  std::vector<Packet> due;
  for (unsigned i = 0; i < 100; ++i) network.take_due(1, due);
  EXPECT_TRUE(due.empty());
}

TEST_F(SimNetworkTest, the_random_numbers_are_those_of_the_published_generator) {
  Random random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317u);
  EXPECT_EQ(random.next(), 3203168211198807973u);
  EXPECT_EQ(random.up_to(0), 0u);
  for (unsigned i = 0; i < 1000; ++i) EXPECT_LE(random.up_to(6), 6u);
  EXPECT_NE(Random(1).stream(0).next(), Random(1).stream(1).next());
}

TEST_F(SimNetworkTest, lanes_have_wires_of_their_own_and_one_clock) {
  SimNetwork network(2, {5, 1000});
  const auto lane = network.lane(7), other = network.lane(8);
  EXPECT_EQ(network.lane(7), lane);
  lane->post(1, numbered(0, 3));
  EXPECT_FALSE(network.is_quiet());
  std::vector<Packet> due;
  network.advance_to(5000);
  EXPECT_EQ(lane->now_ns(), 5000u);
  other->take_due(1, due);
  network.take_due(1, due);
  EXPECT_TRUE(due.empty()) << "it was posted on another lane";
  EXPECT_GT(lane->now_ns(), 5000u) << "looks take time, on whatever lane";
  lane->take_due(1, due);
  ASSERT_EQ(due.size(), 1u);
  EXPECT_EQ(due[0].position, 3u);
  EXPECT_TRUE(network.is_quiet());
}

}  // namespace
}  // namespace photon::transport::sim
