// Memory that runs out under a rank that posts (programs/exhausted.cpp).
#include <gtest/gtest.h>

#include "command.hpp"
#include "launched.hpp"

namespace photon::test {
namespace {

class Exhausted : public testing::TestWithParam<const char*> {};

TEST_P(Exhausted, memory_refuses_operations_and_loses_none_that_was_taken) {
  if (is_sanitized()) GTEST_SKIP() << "the sanitizers themselves take more address space";
  const CommandResult result = run_command(
      "folder=$(mktemp -d) && trap \"rm -r $folder\" EXIT && mkfifo $folder/asleep && "
      "PHOTON_PROGRESS_THREAD=off PHOTON_REQUESTS=1048576 PHOTON_TRANSPORT=" +
      std::string(GetParam()) + " " + kRun +
      " -n 2 --timeout 50 " PHOTON_BIN_DIR "/exhausted $folder/asleep 2>&1");
  EXPECT_EQ(result.exit_status, 0) << result.output;
  for (const char* what : {"small puts", "large puts", "gets", "vectored puts", "notices"})
    EXPECT_TRUE(says(result.output, std::string(what) + ": ")) << result.output;
  for (const char* none : {": 0 taken", ", 0 refused"})
    EXPECT_FALSE(says(result.output, none)) << result.output;
  EXPECT_TRUE(says(result.output, "each told once")) << result.output;
}

INSTANTIATE_TEST_SUITE_P(transports, Exhausted, testing::Values("shm", "tcp"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace photon::test
