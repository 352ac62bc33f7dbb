// Which ranks are on one host, as a launcher says it: jobs of all shapes, and garbage.
#include "boot/launch_hosts.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace photon::test {
namespace {

using boot::LaunchHosts;
using Runs = std::vector<ph_launch_host_run>;

// A rank of a host of `here` ranks from `first` on.
ph_launch_welcome welcome_to(std::uint32_t size, std::uint32_t first, std::uint32_t here) {
  return {.rank = first, .size = size, .local_size = here, .local_first = first, .secret = {}};
}

std::optional<LaunchHosts> read_runs(const Runs& runs, const ph_launch_welcome& welcome) {
  return LaunchHosts::read(std::as_bytes(std::span(runs)), welcome);
}

TEST(LaunchHosts, name_of_each_rank_the_first_of_its_host) {
  const Runs runs{{1, 1}, {2, 3}, {1, 2}};  // 0, 1 to 3, 4 to 6, 7 and 8
  for (const auto& [first, here] : {std::pair(0U, 1U), {1U, 3U}, {4U, 3U}, {7U, 2U}}) {
    const auto hosts = read_runs(runs, welcome_to(9, first, here));
    ASSERT_TRUE(hosts) << first;
    const std::vector<boot::Rank> firsts{0, 1, 1, 1, 4, 4, 4, 7, 7};
    for (boot::Rank rank = 0; rank < 9; ++rank) EXPECT_EQ(hosts->first_of(rank), firsts[rank]);
  }
}

TEST(LaunchHosts, are_not_known_where_there_are_no_runs) {
  const auto hosts = read_runs({}, welcome_to(5, 1, 2));
  ASSERT_TRUE(hosts);
  for (boot::Rank rank = 0; rank < 5; ++rank) EXPECT_FALSE(hosts->first_of(rank));
}

// As many runs as there may be, and one more: hosts of one and of two ranks by turns.
TEST(LaunchHosts, have_so_many_runs_and_no_more) {
  Runs runs;
  std::uint32_t size = 0;
  for (std::uint32_t i = 0; i < PH_LAUNCH_MAX_HOST_RUNS; ++i) {
    runs.push_back({1, 1 + i % 2});
    size += 1 + i % 2;
  }
  const auto hosts = read_runs(runs, welcome_to(size, size - 2, 2));
  ASSERT_TRUE(hosts);
  for (boot::Rank rank = 0; rank < size; ++rank)
    EXPECT_EQ(hosts->first_of(rank), rank % 3 == 2 ? rank - 1 : rank);
  runs.push_back({1, 1});
  EXPECT_FALSE(read_runs(runs, welcome_to(size + 1, size, 1)));
}

TEST(LaunchHosts, of_a_job_of_one_rank_a_host_take_one_run) {
  const auto hosts = read_runs({{UINT32_MAX, 1}}, welcome_to(UINT32_MAX, 1025, 1));
  ASSERT_TRUE(hosts);
  EXPECT_EQ(hosts->first_of(UINT32_MAX - 1), UINT32_MAX - 1);
}

TEST(LaunchHosts, that_do_not_make_up_the_job_are_malformed) {
  const auto welcome = welcome_to(6, 2, 2);
  ASSERT_TRUE(read_runs({{3, 2}}, welcome));
  for (const Runs& runs : std::vector<Runs>{{{2, 2}},          // too few
                                            {{4, 2}},          // too many
                                            {{3, 2}, {1, 1}},  // the same, at the end
                                            {{3, 2}, {0, 1}},  // no host
                                            {{3, 2}, {1, 0}},  // no rank
                                            {{0, 0}},          //
                                            {{2, 3}},          // another host is ours
                                            {{1, 1}, {1, 3}, {1, 2}},
                                            {{1, 2}, {4, 1}},
                                            {{UINT32_MAX, UINT32_MAX}},
                                            {{2, 0x8000'0003}}})  // 6 in 32 bits
    EXPECT_FALSE(read_runs(runs, welcome)) << runs.front().hosts << " of " << runs.front().ranks;
  const Runs good{{3, 2}};
  const auto bytes = std::as_bytes(std::span(good));
  for (std::size_t size = 1; size < bytes.size(); ++size)
    EXPECT_FALSE(LaunchHosts::read(bytes.first(size), welcome)) << size;
}

// Whatever is taken says the same as its runs, one after the other.
TEST(LaunchHosts, are_right_or_refused_whatever_the_runs_are) {
  std::mt19937 random(7);
  int taken = 0;
  for (int i = 0; i < 200'000; ++i) {
    Runs runs(1 + random() % 4);
    std::vector<boot::Rank> firsts;
    for (auto& run : runs) {
      run.hosts = static_cast<std::uint32_t>(random() % 3);
      run.ranks = static_cast<std::uint32_t>(random() % 4);
      for (std::uint32_t host = 0; host < run.hosts; ++host)
        firsts.insert(firsts.end(), run.ranks, static_cast<boot::Rank>(firsts.size()));
    }
    const auto size = static_cast<std::uint32_t>(1 + random() % 12);
    const auto first = static_cast<std::uint32_t>(random() % size);
    const auto here = static_cast<std::uint32_t>(1 + random() % (size - first));
    const auto hosts = read_runs(runs, welcome_to(size, first, here));
    if (!hosts) continue;
    ++taken;
    ASSERT_EQ(firsts.size(), size);
    for (boot::Rank rank = 0; rank < size; ++rank) ASSERT_EQ(hosts->first_of(rank), firsts[rank]);
  }
  EXPECT_GT(taken, 100);
}

}  // namespace
}  // namespace photon::test
