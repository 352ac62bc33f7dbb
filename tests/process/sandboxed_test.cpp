// Ranks whose copies by the kernel are refused after they have worked (programs/sandboxed.cpp).
#include "launched.hpp"

namespace photon::test {
namespace {

struct Sandbox {
  const char* how;
  const char* progress_thread;
};

class Sandboxed : public testing::TestWithParam<Sandbox> {};

TEST_P(Sandboxed, a_pair_goes_on_through_the_bulk_ring_and_says_so_once) {
  const auto& [how, progress_thread] = GetParam();
  Launched job({"-n", "2", "--timeout", "50", "--env",
                std::string("PHOTON_PROGRESS_THREAD=") + progress_thread, "--env",
                "PHOTON_LOG=warn", std::string(PHOTON_BIN_DIR) + "/sandboxed", how});
  ASSERT_EQ(job.wait(), 0) << job.out << job.err;
  if (says(job.out, "never worked")) GTEST_SKIP() << job.out;
  EXPECT_TRUE(says(job.out, "they worked, and then were refused")) << job.out;
  EXPECT_TRUE(says(job.out, "other memory goes through the bulk ring")) << job.out;
  const auto first = job.err.find("copies by the kernel (CMA)");
  ASSERT_NE(first, std::string::npos) << job.err;
  EXPECT_EQ(job.err.find("copies by the kernel (CMA)", first + 1), std::string::npos) << job.err;
}

INSTANTIATE_TEST_SUITE_P(ways, Sandboxed,
                         testing::Values(Sandbox{"filter", "off"}, Sandbox{"filter", "on"},
                                         Sandbox{"thread", "on"}, Sandbox{"undumpable", "off"}),
                         [](const auto& info) {
                           return std::string(info.param.how) + "_progress_thread_" +
                                  info.param.progress_thread;
                         });

}  // namespace
}  // namespace photon::test
