// Jobs whose ranks find each other by addresses (programs/addressed.cpp), on one host and on two.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "command.hpp"
#include "two_hosts.hpp"

namespace photon::test {
namespace {

CommandResult addressed(const std::string& environment, const std::string& words) {
  return run_command(environment + " " + PHOTON_BIN_DIR + "/addressed " + words + " 2>&1");
}

TEST(AddressesHere, everybody_reaches_everybody_over_shared_memory_and_leaves) {
  for (const char* how : {"", "PHOTON_TRANSPORT=shm", "PHOTON_TRANSPORT=mixed"})
    for (const char* ranks : {"1", "2", "5"}) {
      // Where no other host is meant, no interface for others is needed.
      const auto result =
          addressed(how + std::string(" PHOTON_TCP_INTERFACE=lo"), std::string("work ") + ranks);
      EXPECT_EQ(result.exit_status, 0) << how << ranks << ": " << result.output;
      EXPECT_EQ(result.output, "") << how << ranks;
    }
}

TEST(AddressesHere, the_ends_of_ranks_are_told) {
  for (const char* mode : {"killed", "unmet", "left"}) {
    const auto begin = std::chrono::steady_clock::now();
    const auto result = addressed("PHOTON_TCP_INTERFACE=lo", std::string(mode) + " 3");
    EXPECT_EQ(result.exit_status, 0) << mode << ": " << result.output;
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(15)) << mode;
  }
}

class AddressesAcross : public testing::Test {
 protected:
  CommandResult run(const std::string& environment, const std::string& words) const {
    return addressed(environment, words + " " + hosts_.name("a") + " " + hosts_.name("b"));
  }

  const TwoHosts hosts_;
};

TEST_F(AddressesAcross, everybody_reaches_everybody_by_its_own_way_and_leaves) {
  if (!hosts_.made()) GTEST_SKIP() << TwoHosts::unmade();
  for (const char* how : {"", "PHOTON_TRANSPORT=tcp", "PHOTON_TRANSPORT=mixed"})
    for (const char* ranks : {"2", "5"}) {
      const auto result = run(how, std::string("work ") + ranks);
      EXPECT_EQ(result.exit_status, 0) << how << ranks << ": " << result.output;
      EXPECT_EQ(result.output, "") << how << ranks;
    }
}

TEST_F(AddressesAcross, the_ends_of_ranks_are_told) {
  if (!hosts_.made()) GTEST_SKIP() << TwoHosts::unmade();
  for (const char* mode : {"killed", "unmet", "left"}) {
    const auto begin = std::chrono::steady_clock::now();
    const auto result = run("", std::string(mode) + " 4");
    EXPECT_EQ(result.exit_status, 0) << mode << ": " << result.output;
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(15)) << mode;
  }
}

TEST_F(AddressesAcross, an_address_that_another_host_cannot_use_is_refused) {
  if (!hosts_.made()) GTEST_SKIP() << TwoHosts::unmade();
  const auto result = run("PHOTON_TCP_INTERFACE=lo", "refused 2");
  EXPECT_EQ(result.exit_status, 0) << result.output;
  EXPECT_NE(result.output.find("rank 1: "), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("no other host can reach"), std::string::npos) << result.output;
}

}  // namespace
}  // namespace photon::test
