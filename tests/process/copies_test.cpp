// Copies between two processes, by each way that can be set: at the ends of memory, with memory and
// keys that are gone, and with a peer that is stopped or killed (programs/copies.cpp).
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "command.hpp"

namespace photon::test {
namespace {

struct CopyWay {
  const char* name;
  const char* settings;
};

void PrintTo(const CopyWay& way, std::ostream* out) { *out << way.name; }

constexpr CopyWay kCopyWays[] = {
    {"plain", "PHOTON_SHM_COPIES=plain"},
    {"streamed", "PHOTON_SHM_COPIES=streamed"},
    {"staged", "PHOTON_SHM_COPIES=staged"},
    {"auto", "PHOTON_SHM_COPIES=auto"},
    {"plain_no_cma", "PHOTON_SHM_COPIES=plain PHOTON_SHM_CMA=off"},
    {"streamed_no_cma", "PHOTON_SHM_COPIES=streamed PHOTON_SHM_CMA=off"},
    {"auto_no_cma", "PHOTON_SHM_COPIES=auto PHOTON_SHM_CMA=off"},
};

class CopiesBetween : public testing::TestWithParam<CopyWay> {
 protected:
  static void expect_kept(const std::string& what) {
    const auto result = run_command(std::string("env PHOTON_TRANSPORT=shm ") + GetParam().settings +
                                    " timeout 50 " PHOTON_BIN_DIR "/copies " + what + " 2>&1");
    EXPECT_EQ(result.exit_status, 0) << result.output;
  }
};

TEST_P(CopiesBetween, touch_no_byte_of_the_pages_beside_their_memory) { expect_kept("ends"); }

TEST_P(CopiesBetween, from_a_source_that_was_unmapped_are_the_callers_error) {
  expect_kept("gone_source");
}

TEST_P(CopiesBetween, write_nothing_when_their_key_was_taken_back_and_none_is_lost) {
  expect_kept("taken_back");
}

TEST_P(CopiesBetween, to_a_receiver_that_is_stopped_and_goes_on_are_exact_and_told_once) {
  expect_kept("stopped");
}

TEST_P(CopiesBetween, of_a_sender_that_is_killed_are_whole_where_they_are_told) {
  expect_kept("sender_killed");
}

TEST_P(CopiesBetween, to_a_receiver_that_is_killed_all_end) { expect_kept("receiver_killed"); }

INSTANTIATE_TEST_SUITE_P(Ways, CopiesBetween, testing::ValuesIn(kCopyWays),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace photon::test
