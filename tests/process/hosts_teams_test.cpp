// Collective operations of all ranks of a job of several photonruns (programs/leading.cpp): each
// rank knows who is on whose host, so that they go through one leader a host. Two hosts with
// unequal numbers of ranks, which are network namespaces.
#include "launched.hpp"
#include "two_hosts.hpp"

namespace photon::test {
namespace {

class HostsTeams : public testing::Test {
 protected:
  HostsTeams() { ::setenv("PHOTON_JOB_KEY", "a key of the tests, long enough", 1); }
  ~HostsTeams() override { ::unsetenv("PHOTON_JOB_KEY"); }

  void SetUp() override {
    if (!hosts_.made()) GTEST_SKIP() << TwoHosts::unmade();
  }

  static constexpr int kLedRanks = 5;
  // What all ranks say, of which two are the root's.
  std::string run(const std::string& setting) const {
    const std::vector<std::string> program{"--env", setting,
                                           std::string(PHOTON_BIN_DIR) + "/leading"};
    std::vector<std::string> at_root{"--root", "10.77.0.1:7000", "-n", "5", "--here", "2"};
    std::vector<std::string> at_leaf{"--join", "10.77.0.1:7000", "--wait", "10", "--here", "3"};
    at_root.insert(at_root.end(), program.begin(), program.end());
    at_leaf.insert(at_leaf.end(), program.begin(), program.end());
    Launched a(at_root, hosts_.at("a"));
    Launched b(at_leaf, hosts_.at("b"));
    EXPECT_EQ(a.wait(), 0) << setting << ": " << a.err << b.err;
    EXPECT_EQ(b.wait(), 0) << setting << ": " << b.err;
    return a.out + b.out;
  }
  static int count_of(const std::string& words, const std::string& text) {
    int count = 0;
    for (std::size_t at = 0; (at = text.find(words, at)) != std::string::npos; ++at) ++count;
    return count;
  }

  const TwoHosts hosts_;
};

TEST_F(HostsTeams, of_all_ranks_have_leaders_as_the_built_in_table_says) {
  const std::string said = run("PHOTON_LOG=warn");
  EXPECT_EQ(count_of("chosen leaders\n", said), kLedRanks) << said;
  for (const char* const kind : {"barrier", "bcast", "reduce", "allreduce"})
    EXPECT_EQ(count_of(std::string("\n") + kind + " by leaders\n", said), kLedRanks)
        << kind << ": " << said;
}

TEST_F(HostsTeams, do_every_sum_by_leaders_where_a_setting_names_them) {
  const std::string said = run("PHOTON_COLL_ALLREDUCE=leaders");
  EXPECT_EQ(count_of("allreduce by leaders\n", said), kLedRanks) << said;
  EXPECT_EQ(count_of("allreduce by ", said), kLedRanks) << "by nothing else: " << said;
}

TEST_F(HostsTeams, do_as_another_setting_says) {
  const std::string said = run("PHOTON_COLL_ALLREDUCE=ring");
  EXPECT_EQ(count_of("chosen ring\n", said), kLedRanks) << said;
  EXPECT_EQ(count_of("allreduce by leaders\n", said), 0) << said;
}

}  // namespace
}  // namespace photon::test
