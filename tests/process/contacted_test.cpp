// The end of a rank that was contacted and never spoken to (programs/contacted.cpp).
#include <gtest/gtest.h>

#include "command.hpp"
#include "real_fabric.hpp"

namespace photon::test {
namespace {

class Contacted : public testing::TestWithParam<const char*> {};

TEST_P(Contacted, a_rank_that_is_killed_without_ever_having_been_sent_anything_becomes_dead) {
  if (std::string(GetParam()) == "ofi" && no_real_fabric() != nullptr)
    GTEST_SKIP() << no_real_fabric();
  const CommandResult result = run_command(std::string("PHOTON_TRANSPORT=") + GetParam() +
                                           " timeout 40 " PHOTON_BIN_DIR "/contacted 2>&1");
  EXPECT_EQ(result.exit_status, 0) << result.output;
}

INSTANTIATE_TEST_SUITE_P(Transports, Contacted, testing::Values("shm", "tcp", "mixed", "ofi"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace photon::test
