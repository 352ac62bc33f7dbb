// Programs with lanes: that they are drawn, that what they are there for is met, and that a leak
// from one lane to another is found.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "simtest/case.hpp"
#include "simtest/world.hpp"
#include "tests/simtest/brief.hpp"

namespace photon::simtest {
namespace {

using NetworkFault = transport::sim::Fault;

Case with_lanes(std::uint64_t seed, Profile profile,
                NetworkFault::Kind fault = NetworkFault::Kind::none) {
  return {seed, profile, 4, 200, {fault, seed % 20}, Lanes::all};
}

std::size_t count_of(const Program& program, Verb verb) {
  std::size_t count = 0;
  for (const auto& steps : program.steps)
    count += static_cast<std::size_t>(std::count_if(
        steps.begin(), steps.end(), [verb](const Step& step) { return step.verb == verb; }));
  return count;
}

TEST(SimtestLanes, a_third_of_the_programs_have_lanes_and_the_others_are_what_they_were) {
  constexpr std::uint64_t kSeeds = 300;
  std::uint64_t with = 0, closes = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Program drawn = generate(seed, 4, 40, {Lanes::drawn, Losses::none});
    with += drawn.lanes.empty() ? 0 : 1;
    closes += count_of(drawn, Verb::lane_close) == 0 ? 0 : 1;
    EXPECT_EQ(drawn.lanes.empty(), count_of(drawn, Verb::lane_open) == 0);
    const Program without = generate(seed, 4, 40, {Lanes::none, Losses::none});
    EXPECT_TRUE(without.lanes.empty());
    if (drawn.lanes.empty()) {
      EXPECT_EQ(text_of(drawn), text_of(without));
    }
    EXPECT_FALSE(generate(seed, 4, 40, {Lanes::all, Losses::none}).lanes.empty());
  }
  EXPECT_GT(with, kSeeds / 4);
  EXPECT_LT(with, kSeeds / 2);
  EXPECT_GT(closes, kSeeds / 10);
}

TEST(SimtestLanes, programs_with_lanes_repeat_and_keep_the_promises) {
  for (const Profile profile : kProfiles)
    for (std::uint64_t seed = 1; seed <= seeds_of(10); ++seed) {
      const Case one = with_lanes(seed, profile);
      const Result first = run_case(one, true);
      EXPECT_FALSE(first.finding) << "seed " << seed << ": " << first.finding->text;
      if (!kIsBrief) {
        EXPECT_EQ(first.history, run_case(one, true).history) << "seed " << seed;
      }
      EXPECT_NE(first.history.find("lane #1: "), std::string::npos);
    }
}

// A record of one lane comes on another: its id is one that this lane does not know.
TEST(SimtestLanes, a_leak_from_one_lane_to_another_is_found_and_shrinks) {
  for (const Profile profile : {Profile::stream, Profile::mapped, Profile::srd}) {
    std::uint64_t seed = 1;
    for (; seed <= 100; ++seed) {
      const Case one = with_lanes(seed, profile, NetworkFault::Kind::leak);
      const Program whole = program_of(one);
      const Result first = run_case(one, whole, false);
      if (!first.finding || first.finding->kind != "lane") continue;
      if (profile != Profile::stream) break;
      const Program small = shrink(whole, fails_with(one, "lane"), 2000);
      EXPECT_LE(steps_count(small), 60u) << text_of(small);
      EXPECT_GE(count_of(small, Verb::lane_open), 1u) << "without lanes there is no leak";
      break;
    }
    EXPECT_LE(seed, 100u) << "nobody noticed";
  }
}

// News of one lane wake who sleeps there, and nobody else.
TEST(SimtestLanes, who_waits_in_a_lane_is_woken_by_its_news_alone) {
  for (const Profile profile : kProfiles) {
    World::Settings settings;
    settings.ranks = 2;
    settings.network.max_delay_ns = 1000;
    settings.network.profile = profile;
    settings.options = {{"max_cid_size", "8"}, {"arena_bytes", "1048576"}, {"spin_us", "0"}};
    World world(settings);
    world.run(
        [&](ph_rank rank) {
          const ph_query remote{1 - rank, PH_REMOTE, nullptr};
          ph_context* const home = world.context(rank);
          ph_context* lane = nullptr;
          ASSERT_EQ(ph_lane_open(home, 5, &lane), PH_OK);
          if (rank == 0) {
            ASSERT_EQ(ph_notify(home, 1, 1), PH_OK);
            world.pause(300'000);
            ASSERT_EQ(ph_notify(lane, 1, 2), PH_OK);
          } else {
            EXPECT_EQ(ph_wait(lane, remote, 100), PH_TIMEOUT) << "that was the context's";
            EXPECT_EQ(ph_wait(lane, remote, 1'000'000), PH_OK);
            EXPECT_GE(world.now_ns(), 300'000u);
            EXPECT_EQ(ph_wait(home, remote, 0), PH_OK);
          }
          EXPECT_EQ(ph_lane_close(lane), PH_OK);
          EXPECT_EQ(ph_finalize(home), PH_OK);
        },
        [] { ADD_FAILURE() << "the job does not go on"; });
  }
}

}  // namespace
}  // namespace photon::simtest
