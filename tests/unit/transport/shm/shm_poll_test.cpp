// How a rank hears of news.
#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "shm_pair.hpp"

namespace photon::transport::shm {
namespace {

using namespace test;

class ShmPoll : public ShmPairTest {};
INSTANTIATE_TEST_SUITE_P(process, ShmPoll, testing::Bool(), process_name);

TEST_P(ShmPoll, a_kick_is_heard_at_the_next_poll) {
  ShmPair pair(one_process());
  ASSERT_TRUE(pair.join());
  pair[1].poll();  // what contact itself rang
  pair[1].news.activity.clear();
  pair[1].poll();
  pair[0].transport->kick(1);
  pair[1].poll();
  EXPECT_TRUE(pair[1].news.activity.count(0));
}

TEST_P(ShmPoll, a_ring_without_a_doorbell_is_looked_at_in_rotation) {
  ShmPair pair(one_process());
  ASSERT_TRUE(pair.join());
  pair[1].poll();
  pair[1].news.activity.clear();
  for (int i = 0; i < 64; ++i) pair[1].poll();
  EXPECT_TRUE(pair[1].news.activity.count(0));
}

TEST_P(ShmPoll, who_is_cut_off_while_the_side_channel_is_full_is_told_when_it_has_room) {
  ShmPair pair(one_process());
  ASSERT_TRUE(pair.join());
  pair.job().set_full(true);
  pair[0].transport->cut_off(1, "it said nonsense");
  for (int i = 0; i < 100; ++i) {
    pair[0].poll();
    pair[1].poll();
  }
  EXPECT_TRUE(pair[1].news.gone.empty());
  EXPECT_FALSE(pair[0].transport->drained());
  pair.job().set_full(false);
  ASSERT_TRUE(pair.eventually([&] { return pair[1].news.gone.count(0) == 1; }));
  EXPECT_EQ(pair[1].news.gone[0].what, "rank 0 has cut this rank off: it said nonsense");
  EXPECT_TRUE(pair[0].transport->drained());
}

TEST_P(ShmPoll, who_spins_polls_less_often_than_who_probes_now_and_then) {
  constexpr unsigned kLeast = 32;
  constexpr unsigned kMost = 256;
  constexpr std::int64_t kSeldomNs = 50'000;
  ShmPair pair(one_process());
  ASSERT_TRUE(pair.join());
  const Transport& transport = *pair[1].transport;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 1'000'000 && transport.poll_interval() != kMost; ++i) pair[1].poll();
    EXPECT_EQ(transport.poll_interval(), kMost);
    for (int i = 0; i < 16 && transport.poll_interval() != kLeast; ++i) {
      for (const auto start_ns = base::now_ns(); base::now_ns() - start_ns < kSeldomNs;) continue;
      pair[1].poll();
    }
    EXPECT_EQ(transport.poll_interval(), kLeast);
  }
}

}  // namespace
}  // namespace photon::transport::shm
