#include "child.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "fd.hpp"

namespace photonrun {
namespace {

TEST(Child, that_became_its_program_says_no_word) {
  Pipe pipe = make_pipe();
  pipe.write.reset();  // as exec does
  EXPECT_EQ(await_exec(pipe.read.get()), 0);
}

TEST(Child, that_could_not_says_why) {
  const Pipe pipe = make_pipe();
  const int number = ENOENT;
  ASSERT_EQ(::write(pipe.write.get(), &number, sizeof number), ssize_t{sizeof number});
  EXPECT_EQ(await_exec(pipe.read.get()), ENOENT);
}

int status_of_child(pid_t parent) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    die_with(parent);
    int number = 0;
    ::prctl(PR_GET_PDEATHSIG, &number);
    ::_exit(number == SIGKILL ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Child, dies_with_its_parent) { EXPECT_EQ(status_of_child(::getpid()), 0); }

TEST(Child, whose_parent_died_before_does_not_begin) {
  EXPECT_EQ(status_of_child(::getpid() + 1), kNotStartedStatus);
}

}  // namespace
}  // namespace photonrun
