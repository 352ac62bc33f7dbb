#include <gtest/gtest.h>

#include "schedule_cases.hpp"

namespace photon::schedule {
namespace {

TEST(Schedule, kinds_and_algorithms_have_names_of_their_own) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < kKinds; ++i) names.emplace_back(name_of(static_cast<Kind>(i)));
  EXPECT_EQ(names.back(), "reduce_scatter");
  for (std::uint32_t i = 0; i < kAlgorithms; ++i)
    names.emplace_back(name_of(static_cast<Algorithm>(i)));
  EXPECT_EQ(names.back(), "leaders");
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::unique(names.begin(), names.end()), names.end());
  EXPECT_STREQ(name_of(static_cast<Kind>(kKinds)), "unknown");
  EXPECT_STREQ(name_of(static_cast<Algorithm>(kAlgorithms)), "unknown");
}

TEST(Schedule, no_algorithm_is_known_for_a_kind_that_it_cannot_do) {
  EXPECT_FALSE(knows({.kind = Kind::barrier, .algorithm = Algorithm::ring, .size = 4}));
  EXPECT_FALSE(knows({.kind = static_cast<Kind>(kKinds), .size = 4}));
  EXPECT_FALSE(knows({.algorithm = static_cast<Algorithm>(kAlgorithms), .size = 4}));
}

TEST(Schedule, a_team_of_one_copies_its_input_at_most) {
  EXPECT_EQ(phases_of({.kind = Kind::barrier, .algorithm = Algorithm::dissemination}), 0U);
  EXPECT_EQ(phases_of({.kind = Kind::bcast, .count = 5}), 0U);
  EXPECT_EQ(phases_of({.kind = Kind::exscan, .algorithm = Algorithm::chain, .count = 5}), 0U);
  Call call{.kind = Kind::allreduce, .algorithm = Algorithm::direct, .count = 5};
  ASSERT_EQ(phases_of(call), 1U);
  Phase phase;
  phase_at(call, 0, phase);
  ASSERT_EQ(phase.count, 1U);
  EXPECT_EQ(phase.steps[0].action, Action::copy);
  EXPECT_EQ(phase.steps[0].to.count, 5U);
  call.in_place = true;
  EXPECT_EQ(phases_of(call), 0U);
}

// Each of two members takes itself for the root.
TEST(Schedule, a_player_sees_a_member_that_takes_part_in_something_else) {
  std::vector<PlayedMember> members(2);
  for (std::uint32_t m = 0; m < 2; ++m) {
    members[m].call = {.kind = Kind::bcast, .size = 2, .rank = m, .root = m, .count = 1};
    members[m].spaces[Space::out] = {Made::input(m, 0)};
  }
  EXPECT_NE(SchedulePlay(members, 1).run(), "");
}

}  // namespace
}  // namespace photon::schedule
