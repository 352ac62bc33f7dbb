// That a run is a function of its seed, that what the simulation is there for is found, and that a
// failing program can be made small.
#include <gtest/gtest.h>

#include <string>

#include "simtest/case.hpp"

namespace photon::simtest {
namespace {

using transport::sim::Fault;

std::string describe(const Case& one, const Result& result) {
  std::string text =
      "seed " + std::to_string(one.seed) + ", " + kProfileNames[static_cast<int>(one.profile)];
  if (result.finding) text += ": " + result.finding->kind + ": " + result.finding->text;
  return text;
}

TEST(Simtest, the_same_seed_gives_the_same_history) {
  for (const Profile profile : kProfiles) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const Case one{seed, profile, 4, 200, {}};
      const Result first = run_case(one, true);
      const Result second = run_case(one, true);
      ASSERT_EQ(first.history, second.history) << describe(one, first);
      EXPECT_FALSE(first.finding) << describe(one, first);
      EXPECT_EQ(first.digest, run_case(one, false).digest);
      EXPECT_GT(first.events, 200u);
    }
  }
}

TEST(Simtest, other_seeds_give_other_histories) {
  EXPECT_NE(run_case({1, Profile::stream, 4, 200, {}}, false).digest,
            run_case({2, Profile::stream, 4, 200, {}}, false).digest);
}

TEST(Simtest, jobs_of_2_to_64_ranks_keep_the_promises) {
  for (const std::uint32_t ranks : {2u, 3u, 9u, 33u, 64u}) {
    for (const Profile profile : kProfiles) {
      const Case one{ranks, profile, ranks, 10 * ranks, {}};
      const Result result = run_case(one, false);
      EXPECT_FALSE(result.finding) << ranks << " ranks: " << describe(one, result);
    }
  }
}

// What docs/simulation.md says that ordinary seeds meet.
TEST(Simtest, cards_are_full_refuse_and_find_memory_again_in_ordinary_seeds) {
  for (const Profile profile : {Profile::rc, Profile::srd, Profile::unnamed}) {
    std::uint64_t hits = 0, waits = 0, refusals = 0, evictions = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      const auto& sources = run_case({seed, profile, 4, 200, {}}, false).sources;
      hits += sources.hits != 0 ? 1 : 0;
      waits += sources.waits != 0 ? 1 : 0;
      refusals += sources.refusals != 0 ? 1 : 0;
      evictions += sources.evictions != 0 ? 1 : 0;
    }
    for (const std::uint64_t seeds : {hits, waits, refusals, evictions})
      EXPECT_GE(seeds, 5u) << hits << " seeds with hits, " << waits << " with waits, " << refusals
                           << " with refusals, " << evictions << " with evictions";
  }
}

struct Injected {
  Fault::Kind kind;
  Profile profile;
  const char* name;
  const char* finding;  // what it has to be found as
};

class SimtestFaults : public testing::TestWithParam<Injected> {};

// The bar is 1,000 seeds.
TEST_P(SimtestFaults, are_found_within_100_seeds) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Case one{seed, GetParam().profile, 4, 200, {GetParam().kind, seed % 20}};
    const Result result = run_case(one, false);
    if (result.finding && result.finding->kind == GetParam().finding) return;
  }
  FAIL() << "nobody noticed";
}

constexpr Injected kInjected[] = {
    {Fault::Kind::drop, Profile::stream, "drop", "lost"},
    {Fault::Kind::swap, Profile::stream, "swap", "order"},
    {Fault::Kind::repeat, Profile::stream, "repeat", "twice"},
    {Fault::Kind::early, Profile::stream, "early", "bytes"},
    {Fault::Kind::credit, Profile::stream, "credit", "credits"},
    {Fault::Kind::key, Profile::stream, "key", "status"},
    {Fault::Kind::drop, Profile::srd, "drop_srd", "lost"},
    {Fault::Kind::swap, Profile::srd, "swap_srd", "order"},
    {Fault::Kind::early, Profile::srd, "early_srd", "bytes"},
    {Fault::Kind::early, Profile::rc, "early_rc", "bytes"},
    {Fault::Kind::count, Profile::srd, "count_srd", "bytes"},
    {Fault::Kind::count, Profile::rc, "count_rc", "status"},
    {Fault::Kind::key, Profile::srd, "key_srd", "status"},
    {Fault::Kind::silence, Profile::stream, "silence", "lost"},
    {Fault::Kind::silence, Profile::mapped, "silence_mapped", "lost"},
    {Fault::Kind::silence, Profile::srd, "silence_srd", "lost"},
    {Fault::Kind::rejoin, Profile::stream, "rejoin", "id"},
    {Fault::Kind::rejoin, Profile::srd, "rejoin_srd", "id"},
};
INSTANTIATE_TEST_SUITE_P(network, SimtestFaults, testing::ValuesIn(kInjected),
                         [](const auto& injected) { return std::string(injected.param.name); });

TEST(Simtest, a_failing_program_shrinks_to_few_steps_that_fail_alike) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Case one{seed, Profile::stream, 4, 200, {Fault::Kind::early, 0}};
    const Program whole = program_of(one);
    const Result first = run_case(one, whole, false);
    if (!first.finding) continue;
    const Fails fails = fails_with(one, first.finding->kind);
    const Program small = shrink(whole, fails, 2000);
    EXPECT_LE(steps_count(small), 20u) << text_of(small);
    EXPECT_TRUE(fails(small));
    return;
  }
  FAIL() << "no seed fails";
}

}  // namespace
}  // namespace photon::simtest
