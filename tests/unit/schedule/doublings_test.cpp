#include <gtest/gtest.h>

#include "schedule_cases.hpp"

namespace photon::schedule {
namespace {

TEST(Doublings, no_member_leaves_a_barrier_without_news_of_all) {
  EXPECT_GT((EveryCase{Kind::barrier, Algorithm::dissemination, 11, false}.play()), 0U);
}

TEST(Doublings, an_allreduce_of_any_size_keeps_operands_in_order) {
  EXPECT_GT((EveryCase{Kind::allreduce, Algorithm::recursive_doubling, 11, false}.play()), 0U);
}

TEST(Doublings, a_scan_of_any_size_keeps_operands_in_order) {
  EXPECT_GT((EveryCase{Kind::scan, Algorithm::recursive_doubling, 11, false}.play()), 0U);
}

TEST(Doublings, an_exclusive_scan_of_any_size_keeps_operands_in_order) {
  EXPECT_GT((EveryCase{Kind::exscan, Algorithm::recursive_doubling, 11, false}.play()), 0U);
}

// Who has heard of whom after the rounds of a barrier.
TEST(Doublings, a_barrier_brings_news_of_each_member_to_each) {
  for (std::uint32_t size = 2; size < 70; ++size) {
    Call call{.kind = Kind::barrier, .algorithm = Algorithm::dissemination, .size = size};
    std::vector<std::vector<bool>> heard(size, std::vector<bool>(size));
    for (std::uint32_t i = 0; i < size; ++i) heard[i][i] = true;
    for (std::uint64_t round = 0; round < phases_of(call); ++round) {
      const auto before = heard;
      for (call.rank = 0; call.rank < size; ++call.rank) {
        Phase phase;
        phase_at(call, round, phase);
        for (std::uint32_t i = 0; i < size; ++i)
          if (before[phase.steps[1].peer][i]) heard[call.rank][i] = true;
      }
    }
    for (std::uint32_t i = 0; i < size; ++i)
      ASSERT_EQ(heard[i], std::vector<bool>(size, true)) << size << " members, member " << i;
  }
}

TEST(Doublings, a_loop_is_not_promised_where_brackets_are_others) {
  Call call{.kind = Kind::allreduce, .algorithm = Algorithm::recursive_doubling, .size = 3};
  call.in_order = true;
  EXPECT_TRUE(knows(call));
  call.size = 4;
  EXPECT_FALSE(knows(call));
}

}  // namespace
}  // namespace photon::schedule
