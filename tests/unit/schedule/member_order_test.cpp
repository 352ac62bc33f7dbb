#include <gtest/gtest.h>

#include "schedule_cases.hpp"

namespace photon::schedule {
namespace {

TEST(MemberOrder, a_root_that_folds_all_makes_a_loop) {
  EXPECT_GT((EveryCase{Kind::reduce, Algorithm::linear, 11, false}.play()), 0U);
}

TEST(MemberOrder, member_0_makes_the_loop_for_all) {
  EXPECT_GT((EveryCase{Kind::allreduce, Algorithm::linear, 11, false}.play()), 0U);
}

TEST(MemberOrder, each_member_makes_the_loop_for_its_part) {
  EXPECT_GT((EveryCase{Kind::allreduce, Algorithm::direct, 11, false}.play()), 0U);
}

TEST(MemberOrder, each_member_makes_the_loop_for_its_block) {
  EXPECT_GT((EveryCase{Kind::reduce_scatter, Algorithm::direct, 11, true}.play()), 0U);
}

TEST(MemberOrder, partners_by_distance_fold_all_blocks) {
  EXPECT_GT((EveryCase{Kind::reduce_scatter, Algorithm::pairwise, 11, true}.play()), 0U);
}

TEST(MemberOrder, two_members_need_no_more_memory_than_buffers_they_have) {
  Call call{.kind = Kind::allreduce, .algorithm = Algorithm::direct, .size = 2, .count = 1000};
  EXPECT_EQ(temp_of(call), 0U);
  call.rank = 1;
  EXPECT_EQ(temp_of(call), 0U);
}

TEST(MemberOrder, folds_by_distance_keep_no_order) {
  Call call{.kind = Kind::reduce_scatter, .algorithm = Algorithm::pairwise, .size = 4};
  EXPECT_TRUE(knows(call));
  call.keeps_order = true;
  EXPECT_FALSE(knows(call));
}

}  // namespace
}  // namespace photon::schedule
