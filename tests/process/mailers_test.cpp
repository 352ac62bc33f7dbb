// Mailboxes between processes that are killed and stopped (programs/mailers.cpp): each message is
// counted once, and nobody waits for who does not run.
#include <gtest/gtest.h>

#include <tuple>

#include "command.hpp"

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

}  // namespace
}  // namespace photon::test
