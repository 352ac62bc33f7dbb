// Bodies of messages whose sender is killed (programs/lender.cpp): what was lent stays, and what is
// half is told as whole by nobody.
#include <gtest/gtest.h>

#include <tuple>

#include "command.hpp"

namespace photon::test {
namespace {

class Lender : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(Lender, that_is_killed_leaves_whole_chunks_and_no_body_that_only_seems_whole) {
  const auto& [how, transport] = GetParam();
  const auto result = run_command("PHOTON_TRANSPORT=" + std::string(transport) +
                                  " timeout 50 " PHOTON_BIN_DIR "/lender " + how + " 2>&1");
  EXPECT_EQ(result.exit_status, 0) << result.output;
}

INSTANTIATE_TEST_SUITE_P(Ways, Lender,
                         testing::Combine(testing::Values("kept", "half", "echo"),
                                          testing::Values("shm", "tcp")),
                         [](const auto& one) {
                           return std::string(std::get<0>(one.param)) + "_" +
                                  std::get<1>(one.param);
                         });

}  // namespace
}  // namespace photon::test
