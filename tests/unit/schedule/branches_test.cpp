#include <gtest/gtest.h>

#include "schedule_cases.hpp"

namespace photon::schedule {
namespace {

TEST(Branches, a_binomial_gather_puts_every_block_at_its_place) {
  EXPECT_GT((EveryCase{Kind::gather, Algorithm::binomial, 11, false}.play()), 0U);
}

TEST(Branches, a_binomial_scatter_gives_each_member_its_block) {
  EXPECT_GT((EveryCase{Kind::scatter, Algorithm::binomial, 11, false}.play()), 0U);
}

TEST(Branches, a_member_keeps_the_blocks_of_its_subtree_alone) {
  Call call{.kind = Kind::gather, .algorithm = Algorithm::binomial, .size = 16, .count = 10};
  EXPECT_EQ(temp_of(call), 0U);
  call.rank = 8;
  EXPECT_EQ(temp_of(call), 80U);
  call.rank = 7;
  EXPECT_EQ(temp_of(call), 0U);
}

}  // namespace
}  // namespace photon::schedule
