// Gets of ordinary memory of another process, whatever its owner does meanwhile
// (programs/taken_over.cpp): every byte comes, nothing comes after the end, and nobody waits for a
// rank that makes no call.
#include <gtest/gtest.h>

#include "command.hpp"

namespace photon::test {
namespace {

class TakenOver : public testing::TestWithParam<const char*> {};

TEST_P(TakenOver, gets_are_whole_and_over_in_time) {
  for (const char* cma : {"auto", "off"}) {
    const CommandResult result =
        run_command(std::string("PHOTON_TRANSPORT=shm PHOTON_SHM_CMA=") + cma +
                    " timeout 50 " PHOTON_BIN_DIR "/taken_over " + GetParam() + " 2>&1");
    EXPECT_EQ(result.exit_status, 0) << cma << ": " << result.output;
  }
}

INSTANTIATE_TEST_SUITE_P(Owners, TakenOver,
                         testing::Values("polls", "away", "comes", "killed", "left"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace photon::test
