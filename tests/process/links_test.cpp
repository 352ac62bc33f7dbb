// What a job of two hosts makes of a link between them that goes: for a while, and for good.
#include <chrono>
#include <thread>

#include "real_fabric.hpp"
#include "stress_job.hpp"
#include "two_hosts.hpp"

namespace photon::test {
namespace {

using Clock = std::chrono::steady_clock;
using Words = std::vector<std::string>;

std::size_t times_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
}

class Links : public testing::Test {
 protected:
  Links() { ::setenv("PHOTON_JOB_KEY", "a key of the tests, long enough", 1); }
  ~Links() override { ::unsetenv("PHOTON_JOB_KEY"); }

  // A job of four, two on either host.
  static Words at_root(const Words& program) {
    return joined({"--root", "10.77.0.1:7000", "-n", "4", "--here", "2", "--label"}, program);
  }
  static Words at_leaf(const Words& program) {
    return joined({"--join", "10.77.0.1:7000", "--wait", "10", "--here", "2", "--label"}, program);
  }
  static Words joined(Words first, const Words& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
  }

  const TwoHosts hosts_;
};

// TCP, the provider's too, sends again what was lost, and nobody is taken for dead meanwhile.
class LinksOf : public Links, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Transports, LinksOf, testing::Values("auto", "ofi"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(LinksOf, one_that_is_down_for_a_while_costs_time_and_nothing_else) {
  if (!hosts_.made()) GTEST_SKIP() << TwoHosts::unmade();
  const std::string transport = GetParam();
  if (transport == "ofi" && no_real_fabric() != nullptr) GTEST_SKIP() << no_real_fabric();
  const Words program{"--env",
                      "PHOTON_TRANSPORT=" + transport,
                      std::string(PHOTON_BIN_DIR) + "/engine_stress",
                      "12",
                      "7",
                      "8"};
  Launched a(at_root(program), hosts_.at("a"));
  Launched b(at_leaf(program), hosts_.at("b"));
  a.await_lines(2);
  b.await_lines(2);
  for (int times = 0; times < 3; ++times) {
    ASSERT_TRUE(hosts_.plug("b", false));
    std::this_thread::sleep_for(std::chrono::milliseconds(500));  // how long it is down
    ASSERT_TRUE(hosts_.plug("b", true));
  }
  EXPECT_FALSE(a.processes().empty()) << "there was no traffic left to hold up";
  EXPECT_FALSE(b.processes().empty());
  EXPECT_EQ(a.wait(), 0) << a.err << b.err;
  EXPECT_EQ(b.wait(), 0) << b.err;
  EXPECT_EQ(times_of(a.out, "verified ") + times_of(b.out, "verified "), 4u) << a.out << b.out;
}

// A host that vanishes says nothing: with data under way to it or without, its ranks are gone after
// the silence of the setting, and the job of whoever is left is ended by photonrun.
TEST_F(Links, one_that_stays_down_is_the_end_of_the_peers_behind_it) {
  if (!hosts_.made()) GTEST_SKIP() << TwoHosts::unmade();
  const Words program{"--env", "PHOTON_TCP_SILENCE_S=6",
                      std::string(PHOTON_BIN_DIR) + "/lost_link"};
  Launched a(at_root(program), hosts_.at("a"));
  Launched b(at_leaf(program), hosts_.at("b"));
  a.await_lines(2);
  b.await_lines(2);
  for (Launched* const run : {&a, &b}) run->allow(std::chrono::seconds(30));
  ASSERT_TRUE(hosts_.plug("b", false));
  const auto begin = Clock::now();
  a.await_lines(4);
  b.await_lines(4);
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(12));  // 6, and the first retries
  EXPECT_EQ(times_of(a.out, "gone: ") + times_of(b.out, "gone: "), 4u) << a.out << b.out;
  EXPECT_GE(times_of(a.out, "not answered for 6 s"), 1u) << a.out;
  EXPECT_GE(times_of(b.out, "not answered for 6 s"), 1u) << b.out;
  EXPECT_EQ(a.wait(), 137) << a.err;
  EXPECT_EQ(times_of(a.err, "and ranks 2-3 with it"), 1u) << a.err;
  EXPECT_EQ(b.wait(), 125) << b.err;
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(30));  // docs/launcher.md: some 20 s
  a.expect_nothing_left();
  b.expect_nothing_left();
}

}  // namespace
}  // namespace photon::test
