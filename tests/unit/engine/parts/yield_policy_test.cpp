#include "engine/parts/yield_policy.hpp"

#include <gtest/gtest.h>

namespace photon::engine {
namespace {

// Empty turns until the core is given away.
unsigned patience(const YieldPolicy& policy) {
  unsigned turns = 1;
  while (!policy.due(turns)) ++turns;
  return turns - 1;
}

TEST(YieldPolicy, spins_long_while_waits_end_before_the_first_yield) {
  YieldPolicy policy(true);
  const unsigned at_first = patience(policy);
  EXPECT_GT(at_first, YieldPolicy::kShort);
  for (int i = 0; i < 100; ++i) policy.ended(at_first);
  EXPECT_EQ(patience(policy), at_first);
}

TEST(YieldPolicy, one_long_wait_teaches_nothing_and_two_in_a_row_shorten_the_spinning) {
  YieldPolicy policy(true);
  const unsigned at_first = patience(policy);
  for (int i = 0; i < 5; ++i) {
    policy.ended(at_first + 1);
    policy.ended(at_first);
  }
  EXPECT_EQ(patience(policy), at_first);
  policy.ended(at_first + 1);
  policy.ended(at_first + 1);
  EXPECT_EQ(patience(policy), YieldPolicy::kShort);
}

TEST(YieldPolicy, tries_to_spin_again_now_and_then_and_stays_with_it_if_that_pays) {
  YieldPolicy policy(true);
  const unsigned at_first = patience(policy);
  policy.ended(1000);
  policy.ended(1000);
  unsigned waits = 0;
  while (patience(policy) == YieldPolicy::kShort && waits < 1000) {
    policy.ended(1000);
    ++waits;
  }
  EXPECT_GT(waits, 4u);
  EXPECT_LT(waits, 64u);
  policy.ended(at_first);
  EXPECT_EQ(patience(policy), at_first);
}

TEST(YieldPolicy, yields_to_the_progress_thread_of_a_peer_after_a_wait_that_no_running_peer_needs) {
  YieldPolicy policy(false);
  const unsigned alone = patience(policy);
  policy.set_oversubscribed(false, true);
  const unsigned at_first = patience(policy);
  EXPECT_GT(at_first, YieldPolicy::kShort);
  EXPECT_LT(at_first, alone);
  for (int i = 0; i < 4; ++i) policy.ended(1000);
  EXPECT_EQ(patience(policy), at_first)
      << "a peer that runs answers sooner, and must not wait for it";
  policy.set_oversubscribed(false);
  EXPECT_EQ(patience(policy), alone);
}

TEST(YieldPolicy, yields_seldom_but_again_and_again_where_every_rank_has_a_core) {
  YieldPolicy policy(false);
  const unsigned first = patience(policy) + 1;
  EXPECT_GT(first, 1000u);
  EXPECT_FALSE(policy.due(first + 1));
  EXPECT_TRUE(policy.due(2 * first));
}

}  // namespace
}  // namespace photon::engine
