// Jobs of two hosts that have more addresses than the one by which they reach each other: of a
// bridge that each of them has, of networks that nobody carries from one to the other, of one kind
// only. Hosts are network namespaces.
#include <chrono>

#include "command.hpp"
#include "launched.hpp"
#include "two_hosts.hpp"

namespace photon::test {
namespace {

using Words = std::vector<std::string>;

class HostsNetworks : public testing::Test {
 protected:
  HostsNetworks() { ::setenv("PHOTON_JOB_KEY", "a key of the tests, long enough", 1); }
  ~HostsNetworks() override { ::unsetenv("PHOTON_JOB_KEY"); }

  void SetUp() override {
    if (!hosts_.made()) GTEST_SKIP() << TwoHosts::unmade();
  }

  // An interface of that name with such an address, and a carrier, that leads nowhere.
  void add(const std::string& side, const std::string& name, const std::string& address) const {
    ASSERT_TRUE(hosts_.ip(side, "link add " + name + " type veth peer name " + name + "x") &&
                hosts_.ip(side, "link set " + name + "x up") &&
                hosts_.ip(side, "link set " + name + " up") &&
                hosts_.ip(side, "addr add " + address + " dev " + name))
        << name;
  }
  void address(const std::string& side, const std::string& address) const {
    ASSERT_TRUE(hosts_.ip(side, "addr add " + address + " dev v0 nodad")) << address;
  }

  // Rank 0 puts, rank 1 looks. Statuses and words of both.
  struct End {
    int root = -1;
    int leaf = -1;
    std::string words;
    double seconds = 0;
  };
  End run(const Words& settings, const std::string& root_place = "10.77.0.1") const {
    const auto begin = std::chrono::steady_clock::now();
    Words shared{"--here", "1", "--env", "PHOTON_LOG=info"};
    for (const std::string& one : settings) shared.insert(shared.end(), {"--env", one});
    shared.insert(shared.end(), program_.begin(), program_.end());
    const std::string place = root_place + ":7000";
    Words at_root{"--root", place, "-n", "2"};
    Words at_leaf{"--join", place, "--wait", "10"};
    at_root.insert(at_root.end(), shared.begin(), shared.end());
    at_leaf.insert(at_leaf.end(), shared.begin(), shared.end());
    Launched a(at_root, hosts_.at("a"));
    Launched b(at_leaf, hosts_.at("b"));
    End end;
    end.root = a.wait();
    end.leaf = b.wait();
    end.words = a.out + a.err + b.out + b.err;
    end.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return end;
  }
  static void expect_good(const End& end) {
    EXPECT_EQ(end.root, 0) << end.words;
    EXPECT_EQ(end.leaf, 0) << end.words;
    EXPECT_TRUE(says(end.words, "all has arrived")) << end.words;
  }

  const TwoHosts hosts_;
  Words program_ = {std::string(PHOTON_BIN_DIR) + "/one_way"};
};

TEST_F(HostsNetworks, that_both_have_a_bridge_of_one_address_disturbs_nobody) {
  add("a", "docker0", "172.17.0.1/16");
  add("b", "docker0", "172.17.0.1/16");
  for (const char* preferred : {"", "172.17.0.1"}) {
    const End end =
        run(*preferred == 0 ? Words{} : Words{"PHOTON_TCP_PREFERRED=" + std::string(preferred)});
    expect_good(end);
    EXPECT_LT(end.seconds, 10) << preferred;
  }
}

TEST_F(HostsNetworks, each_photonrun_tells_its_ranks_by_which_address_the_hosts_met) {
  address("a", "10.78.0.1/24");
  address("b", "10.78.0.2/24");
  program_ = {"sh", "-c", "echo \"met: $PHOTON_TCP_PREFERRED.\""};
  End end = run({}, "10.78.0.1");
  for (const char* met : {"met: 10.78.0.1.", "met: 10.78.0.2."})
    EXPECT_TRUE(says(end.words, met)) << end.words;
  end = run({"PHOTON_TCP_PREFERRED=10.77.0.1"}, "10.78.0.1");
  EXPECT_FALSE(says(end.words, "met: 10.78.")) << "over the user's: " << end.words;
}

TEST_F(HostsNetworks, an_inner_job_is_not_told_how_the_hosts_of_the_outer_one_met) {
  const std::string inner = " -n 1 sh -c 'echo \"inner: $PHOTON_TCP_PREFERRED.\"'";
  program_ = {"sh", "-c", PHOTON_BIN_DIR "/photonrun" + inner};
  EXPECT_TRUE(says(run({}).words, "inner: .")) << run({}).words;
  program_.back() = "PHOTON_TCP_PREFERRED=10.1.1.1 " + program_.back();
  const End end = run({});
  EXPECT_TRUE(says(end.words, "inner: 10.1.1.1.")) << "a user's: " << end.words;
}

// By a bootstrap that knows nothing of how anybody met.
TEST_F(HostsNetworks, the_bootstrap_s_own_connection_passes_by_such_a_bridge_too) {
  add("a", "docker0", "172.17.0.1/16");
  add("b", "docker0", "172.17.0.1/16");
  for (const char* settings : {"", "PHOTON_TCP_PREFERRED=172.17.0.1 "})
    for (const char* transport : {"tcp", "mixed"}) {
      const auto result = run_command(std::string(settings) + "PHOTON_TRANSPORT=" + transport +
                                      " timeout 30 " + PHOTON_BIN_DIR + "/callers work 4 " +
                                      hosts_.name("a") + " " + hosts_.name("b") + " 2>&1");
      EXPECT_EQ(result.exit_status, 0) << settings << transport << ": " << result.output;
    }
}

TEST_F(HostsNetworks, one_that_is_prohibited_is_passed_by_at_once) {
  for (const auto& [side, other] : {std::pair("a", "b"), std::pair("b", "a")}) {
    add(side, "v1", std::string("10.81.0.") + (*side == 'a' ? "1" : "2") + "/32");
    ASSERT_TRUE(
        hosts_.ip(other, std::string("route add prohibit 10.81.0.") + (*side == 'a' ? "1" : "2")));
  }
  const End end = run({"PHOTON_TCP_PREFERRED=10.81.0.1 10.81.0.2"});
  expect_good(end);
}

// As behind a firewall that drops: who has this address answers under another number of hardware.
TEST_F(HostsNetworks, one_that_does_not_answer_costs_two_seconds_and_no_more) {
  address("a", "10.78.0.1/24");
  address("b", "10.78.0.2/24");
  for (const auto& [side, there] : {std::pair("a", "10.78.0.2"), std::pair("b", "10.78.0.1")})
    ASSERT_TRUE(hosts_.ip(side, std::string("neigh replace ") + there +
                                    " lladdr 02:00:00:00:00:99 nud permanent dev v0"));
  const End end = run({"PHOTON_TCP_PREFERRED=10.78.0.1 10.78.0.2"});
  expect_good(end);
  EXPECT_GE(end.seconds, 1.9) << "the wrong address was not tried: this test tells nothing";
}

TEST_F(HostsNetworks, hosts_that_share_ipv6_only_meet_by_it_though_ipv4_comes_first) {
  address("a", "fd77::1/64");
  address("b", "fd77::2/64");
  ASSERT_TRUE(hosts_.ip("a", "addr del 10.77.0.1/24 dev v0"));
  ASSERT_TRUE(hosts_.ip("b", "addr del 10.77.0.2/24 dev v0"));
  add("b", "v1", "10.82.0.2/24");
  for (const char* preferred : {"", "10.82.0.2"})
    expect_good(
        run(*preferred == 0 ? Words{} : Words{"PHOTON_TCP_PREFERRED=" + std::string(preferred)},
            "[fd77::1]"));
}

TEST_F(HostsNetworks, where_no_address_can_be_reached_each_is_named_with_its_reason) {
  for (const char* side : {"a", "b"}) {
    const std::string number = *side == 'a' ? "1" : "2";
    add(side, "v1", "10.81.0." + number + "/32");
    ASSERT_TRUE(hosts_.ip(side, "addr add 10.82.0." + number + "/32 dev v1"));
    ASSERT_TRUE(
        hosts_.ip(side, "route add prohibit 10.82.0." + std::string(*side == 'a' ? "2" : "1")));
  }
  const End end = run({"PHOTON_TCP_INTERFACE=v1"});
  EXPECT_NE(end.root, 0);
  EXPECT_TRUE(says(end.words, "rank 1 cannot be connected to at 10.81.0.2:") ||
              says(end.words, "rank 1 cannot connect to 10.81.0.1:"))
      << end.words;
  EXPECT_TRUE(says(end.words, ": Network is unreachable; 10.82.0.")) << end.words;
  EXPECT_TRUE(says(end.words, ": Permission denied")) << end.words;
}

}  // namespace
}  // namespace photon::test
