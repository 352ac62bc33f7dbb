#include <gtest/gtest.h>

#include "schedule_cases.hpp"

namespace photon::schedule {
namespace {

TEST(Allgathers, blocks_around_a_ring_reach_all_members) {
  EXPECT_GT((EveryCase{Kind::allgather, Algorithm::ring, 11, true}.play()), 0U);
}

TEST(Allgathers, blocks_sent_to_each_member_reach_it) {
  EXPECT_GT((EveryCase{Kind::allgather, Algorithm::linear, 11, true}.play()), 0U);
}

TEST(Allgathers, runs_that_double_hold_all_blocks) {
  EXPECT_GT((EveryCase{Kind::allgather, Algorithm::recursive_doubling, 11, false}.play()), 0U);
}

TEST(Allgathers, runs_of_any_size_hold_all_blocks) {
  EXPECT_GT((EveryCase{Kind::allgather, Algorithm::bruck, 11, false}.play()), 0U);
}

TEST(Allgathers, blocks_may_be_shorter_than_their_room) {
  for (std::uint32_t size = 2; size < 20; ++size) {
    ScheduleCase played({.kind = Kind::allgather,
                         .algorithm = Algorithm::linear,
                         .size = size,
                         .is_v = true,
                         .more_room = 2});
    EXPECT_EQ(played.play(size), "");
  }
}

TEST(Allgathers, doubling_wants_a_power_of_two_and_equal_blocks) {
  Call call{.kind = Kind::allgather, .algorithm = Algorithm::recursive_doubling, .size = 8};
  EXPECT_TRUE(knows(call));
  const std::vector<std::uint64_t> counts(8, 1);
  call.out_blocks = {counts.data(), counts.data()};
  EXPECT_FALSE(knows(call));
  call.out_blocks = {};
  call.size = 12;
  EXPECT_FALSE(knows(call));
}

}  // namespace
}  // namespace photon::schedule
