// photon-simtest as it is called: what it prints, how it ends, what it says of bad input.
#include <gtest/gtest.h>

#include <string>

#include "command.hpp"

namespace photon::test {
namespace {

const std::string kTool = PHOTON_BIN_DIR "/photon-simtest";

bool says(const CommandResult& result, const std::string& words) {
  return result.output.find(words) != std::string::npos;
}

TEST(SimtestTool, runs_seeds_of_every_profile) {
  const CommandResult result = run_command(kTool + " --seeds 1..3 --operations 20");
  EXPECT_EQ(result.exit_status, 0) << result.output;
  EXPECT_TRUE(says(result, "15 runs,")) << result.output;
  EXPECT_TRUE(says(result, "; 0 failed")) << result.output;
}

TEST(SimtestTool, names_a_failing_seed_and_how_to_see_it_again) {
  const std::string way = " --profile stream --ranks 4 --operations 200 --fault drop";
  const CommandResult found = run_command(kTool + " --seeds 1..5" + way);
  EXPECT_EQ(found.exit_status, 1) << found.output;
  const auto lost = found.output.find("(stream): lost: ");
  ASSERT_NE(lost, std::string::npos) << found.output;
  const auto at = found.output.find("--replay ", lost);
  ASSERT_NE(at, std::string::npos) << found.output;
  const std::string seed = found.output.substr(at + 9, found.output.find('\n', at) - at - 9);
  const CommandResult replay = run_command(kTool + way + " --replay " + seed);
  EXPECT_EQ(replay.exit_status, 1);
  EXPECT_TRUE(says(replay, "FINDING lost: ")) << replay.output.substr(0, 2000);
  const CommandResult small = run_command(kTool + way + " --shrink " + seed);
  EXPECT_EQ(small.exit_status, 1);
  EXPECT_TRUE(says(small, " steps, ")) << small.output.substr(0, 2000);
}

TEST(SimtestTool, says_what_is_wrong_with_a_call) {
  constexpr const char* kWrong[][2] = {
      {"--seeds 5..1", "--seeds 5..1: give A..B with A <= B"},
      {"--seeds many", "--seeds many: give A..B"},
      {"--seeds 1..", "--seeds 1..: give A..B"},
      {"--profile tcp", "--profile"},
      {"--ranks 1", "--ranks"},
      {"--ranks 65", "--ranks"},
      {"--operations 0", "--operations"},
      {"--fault none_such", "--fault"},
      {"--replay x", "--replay"},
      {"--unknown", "--unknown"},
  };
  for (const auto& [arguments, words] : kWrong) {
    const CommandResult result = run_command(kTool + " " + arguments + " 2>&1");
    EXPECT_EQ(result.exit_status, 2) << arguments;
    EXPECT_TRUE(says(result, words)) << arguments << ": " << result.output;
  }
}

}  // namespace
}  // namespace photon::test
