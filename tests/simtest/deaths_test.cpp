// Simulated ranks that die, that are cut off, and who comes under the number of a dead one.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/simtest/job.hpp"

namespace photon::simtest {
namespace {

// What probes of `rank` give, in order.
std::vector<ph_completion> take(World& world, ph_rank rank, std::uint32_t kinds = PH_EITHER) {
  std::vector<ph_completion> all(64);
  std::size_t count = 0;
  EXPECT_EQ(
      ph_probe(world.context(rank), {PH_ANY_RANK, kinds, nullptr}, all.data(), all.size(), &count),
      PH_OK);
  all.resize(count);
  return all;
}

TEST(Deaths, a_dead_rank_never_runs_again_and_the_others_hear_of_it) {
  constexpr std::uint64_t kDiesNs = 50'000, kNoticeNs = 20'000;
  World world(job_of(3));
  std::uint64_t last_ns = 0;
  std::vector<ph_rank> died;
  world.on_death([&](ph_rank rank) { died.push_back(rank); });
  bool is_looked_at = true;
  world.run(
      [&](ph_rank rank) {
        if (rank == 1) {
          world.die(1, {kDiesNs, kNoticeNs, 0});
          static_cast<void>(ph_notify(world.context(1), 0, 7));
          while (is_looked_at) {
            last_ns = world.now_ns();
            world.pause(100);
          }
          return;
        }
        ASSERT_EQ(ph_notify(world.context(rank), 1, 1), PH_OK);
        const ph_query query{1, PH_LOCAL, nullptr};
        EXPECT_EQ(ph_wait(world.context(rank), query, 1'000'000), PH_ERR_PEER);
        EXPECT_LE(world.now_ns(), kDiesNs + kNoticeNs + 10'000 + world.stood_still_ns(rank));
        ph_error error{};
        ph_last_error(world.context(rank), &error);
        EXPECT_EQ(error.rank, 1u);
        if (rank == 0) {
          const auto found = take(world, 0, PH_REMOTE);
          ASSERT_EQ(found.size(), 1u) << "what it had delivered stays";
          EXPECT_EQ(found[0].id, 7u);
        }
        EXPECT_EQ(ph_notify(world.context(rank), 1, 1), PH_ERR_PEER);
        EXPECT_EQ(ph_finalize(world.context(rank)), PH_OK);
      },
      never_stuck);
  EXPECT_EQ(died, std::vector<ph_rank>{1});
  EXPECT_LE(last_ns, kDiesNs + 1000);
  is_looked_at = false;
  world.bury();
}

TEST(Deaths, a_rank_that_has_ended_does_not_die_any_more) {
  World world(job_of(2));
  bool has_died = false;
  world.on_death([&](ph_rank) { has_died = true; });
  world.run(
      [&](ph_rank rank) {
        if (rank == 0) world.die(1, {100'000, 0, 0});
        if (rank == 0) world.pause(200'000);
      },
      never_stuck);
  EXPECT_FALSE(has_died);
}

TEST(Deaths, a_rank_that_is_cut_off_is_slow_and_nothing_of_it_is_lost) {
  on_every_network(2, [&](World& world, ph_rank rank) {
    ph_context* const mine = world.context(rank);
    const ph_query remote{1 - rank, PH_REMOTE, nullptr};
    if (rank == 0) {
      world.cut(1, 2'000'000);
      EXPECT_TRUE(world.is_cut());
      ASSERT_EQ(ph_notify(mine, 1, 5), PH_OK);
    }
    EXPECT_EQ(ph_wait(mine, remote, 1000), PH_TIMEOUT);
    if (rank == 1) {
      ASSERT_EQ(ph_notify(mine, 0, 6), PH_OK);
    }
    EXPECT_EQ(ph_wait(mine, remote, 1'000'000), PH_OK);
    EXPECT_FALSE(world.is_cut());
    EXPECT_EQ(take(world, rank, PH_REMOTE).size(), 1u);
    EXPECT_EQ(ph_finalize(mine), PH_OK);
  });
}

TEST(Deaths, who_is_started_anew_under_the_number_reaches_nobody) {
  on_every_network(3, [&](World& world, ph_rank rank) {
    if (rank == 1) {
      world.die(1, {world.now_ns(), 1'000'000, 10'000});  // long before its death is known
      world.pause(1'000'000'000);
    }
    ph_context* const mine = world.context(rank);
    if (rank == 0) {  // rank 2 never meets it
      EXPECT_EQ(ph_notify(mine, 1, 1), PH_OK);
    }
    EXPECT_EQ(ph_wait(mine, {PH_ANY_RANK, PH_REMOTE, nullptr}, 3000), PH_TIMEOUT);
    EXPECT_EQ(ph_finalize(mine), PH_OK);
  });
}

// The promises in these programs are checked by the seeds of simtest_test.cpp and of CI.
TEST(Deaths, programs_with_deaths_cuts_and_restarts_are_a_modest_share) {
  constexpr std::uint64_t kSeeds = 800;
  std::uint64_t deaths = 0, cuts = 0, restarts = 0, with_leavers = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Program program = generate(seed, 4, 40);
    bool dies = false, cut = false, anew = false, leaves = false;
    for (const auto& steps : program.steps)
      for (const Step& step : steps) {
        dies = dies || step.verb == Verb::die;
        cut = cut || step.verb == Verb::cut;
        anew = anew || step.restart_ns != 0;
        leaves = leaves || step.verb == Verb::leave;
      }
    deaths += dies ? 1 : 0;
    cuts += cut ? 1 : 0;
    restarts += anew ? 1 : 0;
    with_leavers += dies && leaves ? 1 : 0;
    ph_rank stayers = 0;
    for (ph_rank rank = 0; rank < 4; ++rank) stayers += stays(program, rank) ? 1 : 0;
    EXPECT_GE(stayers, 1u) << "seed " << seed;
  }
  for (const std::uint64_t count : {deaths, cuts}) {
    EXPECT_GT(count, kSeeds / 12);
    EXPECT_LT(count, kSeeds / 5);
  }
  EXPECT_GT(restarts, kSeeds / 30);
  EXPECT_GT(with_leavers, kSeeds / 100);
}

}  // namespace
}  // namespace photon::simtest
