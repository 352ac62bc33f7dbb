// Teams of lanes, teams of teams, and teams made and freed many times.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include "engine/coll_calls.hpp"

namespace photon::test {
namespace {

class CollTeams : public OverSettings {};

void expect_team_works(ph_team* team) {
  for (const ph_coll_kind kind : {PH_COLL_ALLREDUCE, PH_COLL_ALLGATHER, PH_COLL_SCAN}) {
    Collective one(team, {kind, 12, 0, false, 0});
    ASSERT_EQ(ph_coll_run(team, &one.args(), PH_FOREVER), PH_OK);
    one.expect_right("kind " + std::to_string(kind));
  }
}

TEST_P(CollTeams, a_lane_has_a_team_of_its_own) {
  ThreadJob job(3, options());
  job.run([](ph_context* context, ph_rank rank) {
    ph_context* const lane = open_lane(context, 1);
    ph_team* const team = world_of(lane);
    EXPECT_NE(team, world_of(context));
    EXPECT_EQ(team, world_of(lane));
    EXPECT_EQ(ph_team_rank(team), rank);
    expect_team_works(team);
    expect_team_works(world_of(context));
    EXPECT_EQ(ph_barrier(context), PH_OK);
    EXPECT_EQ(ph_lane_close(lane), PH_OK);
  });
}

// The middle team is freed first: the inner one does not depend on it.
TEST_P(CollTeams, a_team_outlives_the_one_that_it_was_split_from) {
  ThreadJob job(4, options());
  job.run([](ph_context* context, ph_rank rank) {
    ph_team* outer = nullptr;
    ASSERT_EQ(ph_team_split(world_of(context), rank / 2, 0, PH_FOREVER, &outer), PH_OK);
    ph_team* inner = nullptr;
    ASSERT_EQ(ph_team_split(outer, 0, rank % 2 == 0 ? 1 : 0, PH_FOREVER, &inner), PH_OK);
    EXPECT_EQ(ph_team_free(outer), PH_OK);
    EXPECT_EQ(ph_team_size(inner), 2u);
    EXPECT_EQ(ph_team_rank(inner), rank % 2 == 0 ? 1u : 0u);
    expect_team_works(inner);
    EXPECT_EQ(ph_team_free(inner), PH_OK);
  });
}

TEST_P(CollTeams, teams_are_made_and_freed_a_hundred_times) {
  constexpr int kTimes = 100;
  ThreadJob job(2, options());
  job.run([](ph_context* context, ph_rank rank) {
    for (int i = 0; i < kTimes; ++i) {
      ph_team* team = nullptr;
      ASSERT_EQ(ph_team_split(world_of(context), 7, -static_cast<int>(rank), PH_FOREVER, &team),
                PH_OK);
      Collective one(team, {PH_COLL_ALLREDUCE, 3, 0, false, 0});
      ASSERT_EQ(ph_coll_run(team, &one.args(), PH_FOREVER), PH_OK);
      one.expect_right("of a fresh team");
      ASSERT_EQ(ph_team_free(team), PH_OK);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, CollTeams, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
