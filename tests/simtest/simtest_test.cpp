// That a run is a function of its seed, that what the simulation is there for is found, and that a
// failing program can be made small.
#include <gtest/gtest.h>

#include <array>
#include <iterator>
#include <string>

#include "simtest/case.hpp"
#include "simtest/world.hpp"
#include "tests/simtest/brief.hpp"

namespace photon::simtest {
namespace {

using NetworkFault = transport::sim::Fault;

std::string describe(const Case& one, const Result& result) {
  std::string text =
      "seed " + std::to_string(one.seed) + ", " + kProfileNames[static_cast<int>(one.profile)];
  if (result.finding) text += ": " + result.finding->kind + ": " + result.finding->text;
  return text;
}

TEST(Simtest, the_same_seed_gives_the_same_history) {
  for (const Profile profile : kProfiles) {
    for (std::uint64_t seed = 1; seed <= seeds_of(20); ++seed) {
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

// Under a sanitizer each number of ranks has one profile.
TEST(Simtest, jobs_of_2_to_64_ranks_keep_the_promises) {
  std::size_t number = 0;
  for (const std::uint32_t ranks : {2u, 3u, 9u, 33u, 64u}) {
    for (const Profile profile : kProfiles) {
      if (kIsBrief && number++ % (std::size(kProfiles) + 1) != 0) continue;
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
    for (std::uint64_t seed = 1; seed <= seeds_of(40); ++seed) {
      const auto& sources = run_case({seed, profile, 4, 200, {}}, false).sources;
      hits += sources.hits != 0 ? 1 : 0;
      waits += sources.waits != 0 ? 1 : 0;
      refusals += sources.refusals != 0 ? 1 : 0;
      evictions += sources.evictions != 0 ? 1 : 0;
    }
    if (kIsBrief) continue;
    for (const std::uint64_t seeds : {hits, waits, refusals, evictions})
      EXPECT_GE(seeds, 5u) << hits << " seeds with hits, " << waits << " with waits, " << refusals
                           << " with refusals, " << evictions << " with evictions";
  }
}

struct Injected {
  NetworkFault::Kind kind;
  Profile profile;
  const char* name;
  const char* finding;  // what it has to be found as
};

class SimtestFaults : public testing::TestWithParam<Injected> {};

// The bar is 1,000 seeds. These programs are without echoes and active messages; echo_test.cpp and
// ams_test.cpp have others.
TEST_P(SimtestFaults, are_found_within_100_seeds) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Case one{seed, GetParam().profile, 4, 200, {GetParam().kind, seed % 20}};
    one.echoes = Echoes::none;
    one.ams = Ams::none;
    const Result result = run_case(one, false);
    if (result.finding && result.finding->kind == GetParam().finding) return;
  }
  FAIL() << "nobody noticed";
}

constexpr Injected kInjected[] = {
    {NetworkFault::Kind::drop, Profile::stream, "drop", "lost"},
    {NetworkFault::Kind::swap, Profile::stream, "swap", "order"},
    {NetworkFault::Kind::repeat, Profile::stream, "repeat", "twice"},
    {NetworkFault::Kind::early, Profile::stream, "early", "bytes"},
    {NetworkFault::Kind::credit, Profile::stream, "credit", "credits"},
    {NetworkFault::Kind::key, Profile::stream, "key", "status"},
    {NetworkFault::Kind::drop, Profile::srd, "drop_srd", "lost"},
    {NetworkFault::Kind::swap, Profile::srd, "swap_srd", "order"},
    {NetworkFault::Kind::early, Profile::srd, "early_srd", "bytes"},
    {NetworkFault::Kind::early, Profile::rc, "early_rc", "bytes"},
    {NetworkFault::Kind::count, Profile::srd, "count_srd", "bytes"},
    {NetworkFault::Kind::count, Profile::rc, "count_rc", "status"},
    {NetworkFault::Kind::key, Profile::srd, "key_srd", "status"},
    {NetworkFault::Kind::silence, Profile::stream, "silence", "lost"},
    {NetworkFault::Kind::silence, Profile::mapped, "silence_mapped", "lost"},
    {NetworkFault::Kind::silence, Profile::srd, "silence_srd", "lost"},
    {NetworkFault::Kind::rejoin, Profile::stream, "rejoin", "id"},
    {NetworkFault::Kind::rejoin, Profile::srd, "rejoin_srd", "id"},
};
INSTANTIATE_TEST_SUITE_P(network, SimtestFaults, testing::ValuesIn(kInjected),
                         [](const auto& injected) { return std::string(injected.param.name); });

// Each part of a copy takes up to a microsecond, in which the other rank runs or sleeps.
TEST(Simtest, what_copies_take_is_time_that_the_rank_stood_still) {
  World::Settings settings;
  settings.network.profile = Profile::mapped;
  settings.options = {
      {"direct_min", "0"}, {"packed_max", "64"}, {"arena_bytes", "1048576"}, {"spin_us", "0"}};
  World world(settings);
  ph_region target{};
  std::uint64_t lasted_ns = 0, stood_still_ns = 0;
  const auto get_and_flush = [&] {
    std::array<std::byte, 1024> bytes{};  // of more its owner is asked first
    const std::uint64_t begin_ns = world.now_ns(), still_ns = world.stood_still_ns(0);
    EXPECT_EQ(ph_get_u64(world.context(0), 1, {bytes.data(), bytes.size()},
                         {target.address, target.key}, {1, 2}),
              PH_OK);
    EXPECT_EQ(ph_flush(world.context(0), 1, 1'000'000), PH_OK);
    lasted_ns = world.now_ns() - begin_ns;
    stood_still_ns = world.stood_still_ns(0) - still_ns;
  };
  world.run(
      [&](ph_rank rank) {
        if (rank == 1) {
          EXPECT_EQ(ph_alloc(world.context(1), 4096, &target), PH_OK);
          for (int i = 0; i < 2; ++i) {
            ph_completion get{};
            std::size_t count = 0;
            const ph_query query{0, PH_REMOTE, nullptr};
            EXPECT_EQ(ph_wait(world.context(1), query, 1'000'000), PH_OK);
            EXPECT_EQ(ph_probe(world.context(1), query, &get, 1, &count), PH_OK);
          }
          return;
        }
        while (target.size_bytes == 0) world.pause(100);
        get_and_flush();  // they meet
        get_and_flush();
      },
      [] { ADD_FAILURE() << "the job does not go on"; });
  EXPECT_GT(stood_still_ns, 0u);
  EXPECT_LE(stood_still_ns, lasted_ns);
}

TEST(Simtest, a_failing_program_shrinks_to_few_steps_that_fail_alike) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Case one{seed, Profile::stream, 4, 200, {NetworkFault::Kind::early, 0}};
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
