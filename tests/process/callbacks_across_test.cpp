// Jobs with a bootstrap of the caller's whose ranks are on two hosts (programs/callers.cpp), and a
// classic one with the EXTERNAL exchange.
#include <gtest/gtest.h>

#include <chrono>

#include "command.hpp"
#include "real_fabric.hpp"
#include "two_hosts.hpp"

namespace photon::test {
namespace {

class CallbacksAcross : public testing::Test {
 protected:
  // "environment program MODE RANKS" on both hosts.
  CommandResult run(const std::string& words) const {
    const std::string line = words + " " + hosts_.name("a") + " " + hosts_.name("b") + " 2>&1";
    const std::size_t program = words.find("callers") != std::string::npos
                                    ? words.find("callers")
                                    : words.find("classic_runtime");
    return run_command(line.substr(0, program) + PHOTON_BIN_DIR + "/" + line.substr(program));
  }

  const TwoHosts hosts_;
};

TEST_F(CallbacksAcross, everybody_reaches_everybody_also_on_lanes_and_leaves) {
  if (!hosts_.made()) GTEST_SKIP() << TwoHosts::unmade();
  for (const char* how : {"", "PHOTON_TRANSPORT=tcp ", "PHOTON_TRANSPORT=mixed "})
    for (const char* ranks : {"2", "5"}) {
      const auto result = run(how + std::string("callers work ") + ranks);
      EXPECT_EQ(result.exit_status, 0) << how << ranks << ": " << result.output;
      EXPECT_EQ(result.output, "") << how << ranks;
    }
}

TEST_F(CallbacksAcross, a_rank_that_is_killed_is_told_soon_on_the_other_host) {
  if (!hosts_.made()) GTEST_SKIP() << TwoHosts::unmade();
  for (const char* mode : {"killed", "unmet"}) {
    const auto begin = std::chrono::steady_clock::now();
    const auto result = run("callers " + std::string(mode) + " 4");
    EXPECT_EQ(result.exit_status, 0) << mode << ": " << result.output;
    EXPECT_NE(result.output.find("rank 0: "), std::string::npos) << result.output;
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10)) << mode;
  }
}

// A provider of libfabric says nothing of a host that is silent: the bootstrap's connections do,
// with nothing under way, by the silence of the setting.
TEST_F(CallbacksAcross, a_host_that_vanishes_is_told_to_ranks_of_ofi_too) {
  if (!hosts_.made()) GTEST_SKIP() << TwoHosts::unmade();
  if (no_real_fabric() != nullptr) GTEST_SKIP() << no_real_fabric();
  const auto begin = std::chrono::steady_clock::now();
  const auto result = run("PHOTON_TRANSPORT=ofi PHOTON_TCP_SILENCE_S=6 callers cut 2");
  EXPECT_EQ(result.exit_status, 0) << result.output;
  for (const char* who : {"rank 0: ", "rank 1: "})
    EXPECT_NE(result.output.find(who), std::string::npos) << result.output;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(15));
}

TEST_F(CallbacksAcross, a_rank_that_has_left_is_told_from_one_that_died) {
  if (!hosts_.made()) GTEST_SKIP() << TwoHosts::unmade();
  const auto result = run("callers left 4");
  EXPECT_EQ(result.exit_status, 0) << result.output;
}

TEST_F(CallbacksAcross, a_classic_program_with_an_exchange_of_its_own_moves_every_parcel) {
  if (!hosts_.made()) GTEST_SKIP() << TwoHosts::unmade();
  for (const char* ranks : {"2", "5"}) {
    const auto result = run("classic_runtime " + std::string(ranks));
    EXPECT_EQ(result.exit_status, 0) << ranks << " ranks: " << result.output;
  }
}

TEST_F(CallbacksAcross, a_rank_that_cannot_create_its_context_leaves_nobody_waiting_for_it) {
  if (!hosts_.made()) GTEST_SKIP() << TwoHosts::unmade();
  const auto result = run("callers refused 3");
  EXPECT_EQ(result.exit_status, 0) << result.output;
  EXPECT_NE(result.output.find("pigeon"), std::string::npos) << result.output;
  for (const char* who : {"rank 0: create: ", "rank 1: create: ", "rank 2: create: "})
    EXPECT_NE(result.output.find(who), std::string::npos) << result.output;
}

TEST_F(CallbacksAcross, an_interface_that_one_does_not_have_is_an_error_for_all_and_no_hang) {
  if (!hosts_.made()) GTEST_SKIP() << TwoHosts::unmade();
  const auto result = run("PHOTON_TCP_INTERFACE=no-such-0 callers work 3");
  EXPECT_EQ(result.exit_status, 1) << result.output;
  EXPECT_NE(result.output.find("no-such-0"), std::string::npos) << result.output;
}

}  // namespace
}  // namespace photon::test
