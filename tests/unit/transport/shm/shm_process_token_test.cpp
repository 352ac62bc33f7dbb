#include "transport/shm/shm_process_token.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace photon::transport::shm {
namespace {

TEST(ProcessToken, is_the_same_whenever_this_process_asks) {
  if (::access("/proc/self/stat", R_OK) != 0) GTEST_SKIP() << "no /proc here";
  EXPECT_EQ(process_token(), process_token());
}

TEST(ProcessToken, of_a_forked_child_is_another) {
  const ProcessToken mine = process_token();
  const pid_t child = ::fork();
  if (child == 0) ::_exit(process_token() == mine ? 1 : 0);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace photon::transport::shm
