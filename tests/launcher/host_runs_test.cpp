#include "host_runs.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace photonrun {
namespace {

using Pairs = std::vector<std::pair<unsigned, unsigned>>;

Pairs runs_of(const std::vector<unsigned>& hosts) {
  HostRuns runs;
  for (const unsigned ranks : hosts) runs.add(ranks);
  Pairs pairs;
  for (const ph_launch_host_run& run : runs.list()) pairs.emplace_back(run.hosts, run.ranks);
  return pairs;
}

TEST(HostRuns, draw_together_hosts_that_follow_each_other_with_as_many_ranks) {
  EXPECT_EQ(runs_of({2, 2, 3, 2}), (Pairs{{2, 2}, {1, 3}, {1, 2}}));
  EXPECT_EQ(runs_of(std::vector<unsigned>(1025, 1)), (Pairs{{1025, 1}}));
}

TEST(HostRuns, leave_out_a_root_that_has_no_rank) {
  EXPECT_EQ(runs_of({0, 1, 1}), (Pairs{{2, 1}}));
}

TEST(HostRuns, are_none_where_all_ranks_are_on_one_host) {
  EXPECT_EQ(runs_of({}), Pairs{});
  EXPECT_EQ(runs_of({0, 7}), Pairs{});
}

TEST(HostRuns, are_none_where_they_would_be_too_many) {
  std::vector<unsigned> hosts;
  for (unsigned i = 0; i < PH_LAUNCH_MAX_HOST_RUNS; ++i) hosts.push_back(1 + i % 2);
  EXPECT_EQ(runs_of(hosts).size(), hosts.size());
  hosts.push_back(1);
  EXPECT_EQ(runs_of(hosts), Pairs{});
  hosts.insert(hosts.end(), 100, 2);
  EXPECT_EQ(runs_of(hosts), Pairs{}) << "it does not begin again";
}

}  // namespace
}  // namespace photonrun
