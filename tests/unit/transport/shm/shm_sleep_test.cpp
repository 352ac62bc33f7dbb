// Going to sleep and being woken.
#include <gtest/gtest.h>

#include <thread>

#include "shm_pair.hpp"

namespace photon::transport::shm {
namespace {

using namespace test;

class ShmSleep : public ShmPairTest {};
INSTANTIATE_TEST_SUITE_P(process, ShmSleep, testing::Bool(), process_name);

// Rank 1 sleeps; rank 0 posts, and kicks if the ring is cold.
void sleep_until_posted(ShmPair& pair) {
  ASSERT_TRUE(pair.join());
  Producer producer = producer_of(pair[0].to(1));
  Consumer consumer = consumer_of(pair[1].to(0));
  constexpr int kRounds = 200;
  std::thread sleeper([&] {
    Side& me = pair[1];
    for (int round = 0; round < kRounds; ++round) {
      consumer.credits()->cold.store(1, std::memory_order_relaxed);
      while (consumer.peek() != Consumer::State::record) {
        me.transport->arm();
        if (consumer.peek() != Consumer::State::record) me.transport->sleep(-1);
        me.transport->disarm();
      }
      consumer.pop(1);
      consumer.publish_lines();
    }
  });
  const Link& link = pair[0].to(1);
  for (int round = 0; round < kRounds; ++round) {
    if (round % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
    while (!producer.has_room(1)) std::this_thread::yield();
    post(producer, static_cast<std::uint64_t>(round));
    sync::SleepGate<Policy>::barrier(link.fenced);
    if (link.tx_credits->cold.load(std::memory_order_relaxed) != 0) pair[0].transport->kick(1);
  }
  sleeper.join();
}

TEST_P(ShmSleep, a_kick_wakes_a_sleeper) {
  ShmPair pair(one_process());
  sleep_until_posted(pair);
  EXPECT_FALSE(pair[0].to(1).fenced);
}

TEST(ShmSleepAlone, without_membarrier_both_sides_fence_and_sleepers_wake_all_the_same) {
  ShmPair pair(ShmOptions{.heavy_barrier = false});
  sleep_until_posted(pair);
  EXPECT_TRUE(pair[0].to(1).fenced);
  EXPECT_TRUE(pair[1].to(0).fenced);
}

TEST_P(ShmSleep, an_offer_wakes_a_sleeper_and_so_does_wake) {
  ShmPair pair(one_process());
  std::thread offerer([&] { pair[0].to(1); });
  pair[1].transport->arm();
  pair[1].transport->sleep(-1);
  pair[1].transport->disarm();
  pair[1].poll();
  EXPECT_TRUE(pair[1].news.links.count(0));
  offerer.join();
  std::thread waker([&] { pair[1].transport->wake(); });
  pair[1].transport->sleep(-1);
  waker.join();
}

TEST_P(ShmSleep, a_post_before_the_answer_was_read_reaches_a_sleeping_peer) {
  ShmPair pair(one_process());
  Producer producer = producer_of(pair[0].to(1));
  while (pair[1].news.links.count(0) == 0) pair[1].poll();  // rank 0 makes no progress
  Consumer consumer = consumer_of(pair[1].to(0));
  consumer.credits()->cold.store(1, std::memory_order_relaxed);
  pair[1].transport->arm();
  post(producer, 5);
  pair[0].transport->kick(1);
  pair[1].transport->sleep(-1);
  pair[1].transport->disarm();
  EXPECT_EQ(consumer.peek(), Consumer::State::record);
}

TEST(ShmSleepAlone, sleep_ends_at_its_deadline) {
  ShmPair pair(true);
  pair[0].transport->arm();
  pair[0].transport->sleep(1000);
  pair[0].transport->disarm();
}

}  // namespace
}  // namespace photon::transport::shm
