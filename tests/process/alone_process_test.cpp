// Puts and gets with PH_ALONE to a process that makes no call (programs/alone.cpp).
#include <gtest/gtest.h>

#include "command.hpp"

namespace photon::test {
namespace {

TEST(AloneProcess, bytes_come_and_go_while_their_target_waits_outside_the_library) {
  for (const char* cma : {"auto", "off"}) {
    const CommandResult result = run_command(std::string("PHOTON_SHM_CMA=") + cma +
                                             " timeout 40 " PHOTON_BIN_DIR "/alone 2>&1");
    EXPECT_EQ(result.exit_status, 0) << cma << ": " << result.output;
  }
}

}  // namespace
}  // namespace photon::test
