#include "boot/boot.hpp"

#include <photon/launch.h>

#include <cstdlib>

#include "boot_ranks.hpp"

namespace photon::test {
namespace {

// The variable for the time of one test.
class LaunchVariable {
 public:
  explicit LaunchVariable(const char* value) { ::setenv(PH_LAUNCH_FD_VARIABLE, value, 1); }
  ~LaunchVariable() { ::unsetenv(PH_LAUNCH_FD_VARIABLE); }
};

TEST(Boot, without_callbacks_and_launcher_a_rank_is_alone) {
  ::unsetenv(PH_LAUNCH_FD_VARIABLE);
  auto opened = boot::open(nullptr);
  ASSERT_TRUE(opened);
  EXPECT_EQ((*opened)->size(), 1u);
}

TEST(Boot, an_empty_variable_means_no_launcher) {
  const LaunchVariable variable("");
  EXPECT_TRUE(boot::open(nullptr));
}

TEST(Boot, a_variable_that_leads_nowhere_is_an_error_not_a_job_of_one) {
  const LaunchVariable variable("65000");
  EXPECT_EQ(boot::open(nullptr).error().status, PH_ERR_BOOTSTRAP);
}

TEST(Boot, callbacks_win_over_the_launcher) {
  const LaunchVariable variable("65000");
  CallbackRanks ranks(2);
  EXPECT_EQ(ranks[1].size(), 2u);
}

}  // namespace
}  // namespace photon::test
