#include "service/coll/team.hpp"

#include "coll_unit.hpp"

namespace photon::test {
namespace {

using service::coll::Described;
using service::coll::Told;

TEST(CollTeam, finds_members_by_rank_in_any_order) {
  const Team team({{7, 0}, {3, 0}, {5, 0}}, 1, 16);
  EXPECT_EQ(team.find(7), 0u);
  EXPECT_EQ(team.find(3), 1u);
  EXPECT_EQ(team.find(5), 2u);
  for (const Rank rank : {0U, 4U, 8U}) EXPECT_EQ(team.find(rank), team.size()) << rank;
  const Team world({{0, 0}, {1, 0}}, 1, 16);
  EXPECT_EQ(world.find(1), 1u);
  EXPECT_EQ(world.find(2), world.size());
}

TEST(CollTeam, finds_an_operation_by_its_sequence_alone) {
  Team team({{0, 0}}, 0, 4);
  Operation op;
  op.sequence = 6;
  op.state = OpState::running;
  team.one_shot(6) = &op;
  EXPECT_EQ(team.under_way(0, 6), &op);
  EXPECT_EQ(team.under_way(0, 2), nullptr) << "the same place, another lap";
  EXPECT_EQ(team.under_way(0, 7), nullptr);
  EXPECT_EQ(team.under_way(1, 6), nullptr) << "no such channel";
  op.state = OpState::over;
  EXPECT_EQ(team.under_way(0, 6), nullptr);
}

TEST(CollTeam, remembers_all_failures_that_are_near) {
  Team team({{0, 0}}, 0, 4);
  for (std::uint32_t i = 0; i < 1000; ++i) team.note_told({0, i, {}});
  EXPECT_NE(team.told(0, 0), nullptr);
  EXPECT_NE(team.told(0, 999), nullptr);
  EXPECT_EQ(team.told(1, 1), nullptr);
  team.channels.one_shot().begun = Team::kMostAhead + 500;
  team.forget_far();
  EXPECT_EQ(team.told(0, 499), nullptr);
  EXPECT_NE(team.told(0, 500), nullptr);
}

TEST(CollTeam, knows_what_is_far_also_where_sequences_begin_again) {
  Team team({{0, 0}}, 0, 4);
  EXPECT_FALSE(team.is_far(0, 0U - Team::kMostAhead));
  EXPECT_TRUE(team.is_far(0, 0U - Team::kMostAhead - 1));
  EXPECT_FALSE(team.is_far(0, Team::kMostAhead - 1));
  EXPECT_TRUE(team.is_far(0, Team::kMostAhead));
}

// The first operation, of which a page may still say that it was begun, is none that is to come.
TEST(CollTeam, takes_no_operation_of_long_ago_for_one_that_it_was_freed_before) {
  Team team({{0, 0}}, 0, 4);
  Described freed;
  for (const std::uint32_t begun : {1U, 0x8000'0001U, 0xffff'0000U}) {
    team.channels.one_shot().begun = begun;
    EXPECT_FALSE(team.is_freed_before(0, begun - 1, freed)) << begun;
    EXPECT_TRUE(team.is_freed_before(0, begun, freed)) << begun;
    EXPECT_TRUE(team.is_freed_before(0, begun + 16, freed)) << begun;
  }
  team.channels.one_shot().begun = 0x8000'0001U;
  EXPECT_FALSE(team.is_freed_before(0, 0, freed));
}

TEST(CollTeam, costs_no_more_than_it_may) {
  EXPECT_LE(sizeof(Team) + 16 * (sizeof(Operation*) + sizeof(service::coll::Described)), 4096u);
  EXPECT_LE(sizeof(service::coll::Member), 8u);
}

}  // namespace
}  // namespace photon::test
