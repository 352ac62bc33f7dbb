#include "schedule/trees.hpp"

#include <gtest/gtest.h>

#include "schedule_cases.hpp"

namespace photon::schedule {
namespace {

TEST(Trees, a_binomial_broadcast_reaches_all_members) {
  EXPECT_GT((EveryCase{Kind::bcast, Algorithm::binomial, 11, false}.play()), 0U);
}

TEST(Trees, a_broadcast_of_radix_4_reaches_all_members) {
  EXPECT_GT((EveryCase{Kind::bcast, Algorithm::knomial, 11, false}.play()), 0U);
}

TEST(Trees, a_binomial_reduction_keeps_operands_in_order_where_it_is_asked_to) {
  EXPECT_GT((EveryCase{Kind::reduce, Algorithm::binomial, 11, false}.play()), 0U);
}

TEST(Trees, each_place_is_the_child_of_its_parent_and_runs_follow_each_other) {
  for (const std::uint32_t bits : {1U, 2U})
    for (std::uint32_t size = 1; size < 300; ++size)
      for (std::uint32_t place = 0; place < size; ++place) {
        const Tree tree(size, place, bits);
        std::uint32_t next = place + 1;
        for (std::uint32_t i = 0; i < tree.children(); ++i) {
          const Tree child(size, tree.child(i), bits);
          ASSERT_EQ(child.place(), next);
          ASSERT_EQ(child.parent(), place);
          next += child.run();
        }
        ASSERT_EQ(next, place + tree.run());
      }
}

TEST(Trees, the_largest_team_has_a_tree_too) {
  const Tree top(UINT32_MAX, 0, 1);
  EXPECT_EQ(top.children(), 32U);
  EXPECT_EQ(top.child(31), 1U << 31);
  EXPECT_EQ(Tree(UINT32_MAX, 1U << 31, 1).parent(), 0U);
  EXPECT_EQ(Tree(UINT32_MAX, 0, 2).child(47), 3U << 30);
}

}  // namespace
}  // namespace photon::schedule
