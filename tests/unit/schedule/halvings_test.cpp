#include <gtest/gtest.h>

#include "schedule_cases.hpp"

namespace photon::schedule {
namespace {

TEST(Halvings, an_allreduce_by_halves_keeps_operands_in_order) {
  EXPECT_GT((EveryCase{Kind::allreduce, Algorithm::rabenseifner, 11, false}.play()), 0U);
}

TEST(Halvings, a_reduction_by_halves_keeps_operands_in_order_for_every_root) {
  EXPECT_GT((EveryCase{Kind::reduce, Algorithm::rabenseifner, 11, false}.play()), 0U);
}

TEST(Halvings, halves_of_blocks_end_at_their_members) {
  EXPECT_GT((EveryCase{Kind::reduce_scatter, Algorithm::rabenseifner, 11, false}.play()), 0U);
}

TEST(Halvings, blocks_are_halved_in_teams_of_a_power_of_two) {
  Call call{.kind = Kind::reduce_scatter, .algorithm = Algorithm::rabenseifner, .size = 8};
  EXPECT_TRUE(knows(call));
  call.size = 6;
  EXPECT_FALSE(knows(call));
}

}  // namespace
}  // namespace photon::schedule
