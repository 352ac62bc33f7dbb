// How a rank hears of news.
#include <gtest/gtest.h>

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

TEST_P(ShmPoll, a_ring_without_a_bell_is_looked_at_in_rotation) {
  ShmPair pair(one_process());
  ASSERT_TRUE(pair.join());
  pair[1].poll();
  pair[1].news.activity.clear();
  for (int i = 0; i < 64; ++i) pair[1].poll();
  EXPECT_TRUE(pair[1].news.activity.count(0));
}

}  // namespace
}  // namespace photon::transport::shm
