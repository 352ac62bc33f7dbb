#include <gtest/gtest.h>

#include "schedule_cases.hpp"

namespace photon::schedule {
namespace {

TEST(Rooted, a_linear_broadcast_reaches_all_members) {
  EXPECT_GT((EveryCase{Kind::bcast, Algorithm::linear, 11, false}.play()), 0U);
}

TEST(Rooted, a_linear_gather_puts_every_block_at_its_place) {
  EXPECT_GT((EveryCase{Kind::gather, Algorithm::linear, 11, true}.play()), 0U);
}

TEST(Rooted, a_linear_scatter_gives_each_member_its_block) {
  EXPECT_GT((EveryCase{Kind::scatter, Algorithm::linear, 11, true}.play()), 0U);
}

// With PH_COUNTS_FROM_SENDERS a block may be shorter than its room.
TEST(Rooted, a_gather_takes_blocks_shorter_than_their_room) {
  for (std::uint32_t size = 2; size < 20; ++size) {
    ScheduleCase played(
        {.kind = Kind::gather, .size = size, .root = size / 2, .is_v = true, .more_room = 2});
    EXPECT_EQ(played.play(size), "");
  }
}

}  // namespace
}  // namespace photon::schedule
