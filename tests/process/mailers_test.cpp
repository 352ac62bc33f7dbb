// Mailboxes between processes that are killed and stopped (programs/mailers.cpp): each message is
// counted once, and nobody waits for who does not run. Buffers are taken back while messages land
// in them (programs/late_writes.cpp): nothing of that comes into what was handed over or posted
// since.
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "command.hpp"
#include "rounds.hpp"

namespace photon::test {
namespace {

class Mailers : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(Mailers, are_killed_or_stopped_and_every_message_is_counted_once) {
  const auto& [how, transport] = GetParam();
  const auto result = run_command("PHOTON_TRANSPORT=" + std::string(transport) +
                                  " timeout 50 " PHOTON_BIN_DIR "/mailers " + how + " 2>&1");
  EXPECT_EQ(result.exit_status, 0) << result.output;
}

INSTANTIATE_TEST_SUITE_P(Ways, Mailers,
                         testing::Combine(testing::Values("killed", "stopped", "receiver",
                                                          "aborted", "closed"),
                                          testing::Values("shm", "tcp")),
                         [](const auto& one) {
                           return std::string(std::get<0>(one.param)) + "_" +
                                  std::get<1>(one.param);
                         });

class LateWrites : public testing::TestWithParam<const char*> {
 protected:
  static CommandResult run(const std::string& arguments) {
    return run_command("PHOTON_TRANSPORT=" + std::string(GetParam()) +
                       " " PHOTON_BIN_DIR "/late_writes " + arguments + " 2>&1");
  }
};

// Ten times as many as find one, below; `make soak` takes back a million.
TEST_P(LateWrites, never_come_and_every_message_is_counted_or_refused) {
  const auto result = run(std::to_string(rounds(10'000)));
  EXPECT_EQ(result.exit_status, 0) << result.output;
}

TEST_P(LateWrites, are_found_within_1000_take_backs_where_nothing_is_given_up) {
  const auto result = run("1000 --unfenced");
  EXPECT_EQ(result.exit_status, 3) << result.output;
}

TEST(LateGrants, never_store_and_every_message_is_counted_or_refused) {
  const auto result = run_command(PHOTON_BIN_DIR "/late_grants 5000 2>&1");
  EXPECT_EQ(result.exit_status, 0) << result.output;
}

TEST(LateGrants, are_found_where_nothing_is_revoked) {
  const auto result = run_command(PHOTON_BIN_DIR "/late_grants 50000 --unfenced 2>&1");
  EXPECT_EQ(result.exit_status, 3) << result.output;
}

INSTANTIATE_TEST_SUITE_P(Ways, LateWrites, testing::Values("shm", "tcp"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace photon::test
