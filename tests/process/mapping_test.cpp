// Memory that is mapped when its owner or its mapper ends (programs/mapping.cpp).
#include <gtest/gtest.h>

#include "command.hpp"

namespace photon::test {
namespace {

class MappingEnds : public testing::TestWithParam<const char*> {
 protected:
  static void expect_good(const char* what) {
    const CommandResult result =
        run_command(std::string("PHOTON_TRANSPORT=") + GetParam() +
                    " timeout 40 " PHOTON_BIN_DIR "/mapping " + what + " 2>&1");
    EXPECT_EQ(result.exit_status, 0) << result.output;
  }
};

TEST_P(MappingEnds, a_pointer_stays_good_when_the_owner_is_killed) { expect_good("kill"); }

TEST_P(MappingEnds, a_pointer_stays_good_when_the_owner_has_left) { expect_good("leave"); }

TEST_P(MappingEnds, memory_that_was_freed_is_used_again_when_its_mapper_was_killed) {
  expect_good("mapper");
}

INSTANTIATE_TEST_SUITE_P(Transports, MappingEnds, testing::Values("shm", "mixed"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace photon::test
