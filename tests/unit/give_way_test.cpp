#include "engine/parts/give_way.hpp"

#include <gtest/gtest.h>

namespace photon::engine {
namespace {

// Empty turns until the core is given away.
unsigned patience(const GiveWay& way) {
  unsigned turns = 1;
  while (!way.due(turns)) ++turns;
  return turns - 1;
}

TEST(GiveWay, spins_long_while_waits_end_before_the_first_yield) {
  GiveWay way(true);
  const unsigned at_first = patience(way);
  EXPECT_GT(at_first, GiveWay::kShort);
  for (int i = 0; i < 100; ++i) way.ended(at_first);
  EXPECT_EQ(patience(way), at_first);
}

TEST(GiveWay, one_long_wait_teaches_nothing_and_two_in_a_row_shorten_the_spinning) {
  GiveWay way(true);
  const unsigned at_first = patience(way);
  for (int i = 0; i < 5; ++i) {
    way.ended(at_first + 1);
    way.ended(at_first);
  }
  EXPECT_EQ(patience(way), at_first);
  way.ended(at_first + 1);
  way.ended(at_first + 1);
  EXPECT_EQ(patience(way), GiveWay::kShort);
}

TEST(GiveWay, tries_to_spin_again_now_and_then_and_stays_with_it_if_that_pays) {
  GiveWay way(true);
  const unsigned at_first = patience(way);
  way.ended(1000);
  way.ended(1000);
  unsigned waits = 0;
  while (patience(way) == GiveWay::kShort && waits < 1000) {
    way.ended(1000);
    ++waits;
  }
  EXPECT_GT(waits, 4u);
  EXPECT_LT(waits, 64u);
  way.ended(at_first);
  EXPECT_EQ(patience(way), at_first);
}

TEST(GiveWay, yields_to_the_progress_thread_of_a_peer_after_a_wait_that_no_running_peer_needs) {
  GiveWay way(false);
  const unsigned alone = patience(way);
  way.set_oversubscribed(false, true);
  const unsigned at_first = patience(way);
  EXPECT_GT(at_first, GiveWay::kShort);
  EXPECT_LT(at_first, alone);
  for (int i = 0; i < 4; ++i) way.ended(1000);
  EXPECT_EQ(patience(way), at_first) << "a peer that runs answers sooner, and must not wait for it";
  way.set_oversubscribed(false);
  EXPECT_EQ(patience(way), alone);
}

TEST(GiveWay, yields_seldom_but_again_and_again_where_every_rank_has_a_core) {
  GiveWay way(false);
  const unsigned first = patience(way) + 1;
  EXPECT_GT(first, 1000u);
  EXPECT_FALSE(way.due(first + 1));
  EXPECT_TRUE(way.due(2 * first));
}

}  // namespace
}  // namespace photon::engine
