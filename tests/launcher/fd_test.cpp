#include "fd.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace photonrun {
namespace {

TEST(Fd, of_a_pipe_is_not_for_programs_that_are_started) {
  const Pipe pipe = make_pipe();
  for (const int fd : {pipe.read.get(), pipe.write.get()})
    EXPECT_EQ(::fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  EXPECT_EQ(::write(pipe.write.get(), "x", 1), 1);
  char read = 0;
  EXPECT_EQ(::read(pipe.read.get(), &read, 1), 1);
  EXPECT_EQ(read, 'x');
}

TEST(Fd, is_writable_if_it_was_opened_for_that) {
  const Pipe pipe = make_pipe();
  EXPECT_TRUE(is_writable(pipe.write.get()));
  EXPECT_FALSE(is_writable(pipe.read.get()));
  const Fd both(::open("/dev/null", O_RDWR | O_CLOEXEC));
  EXPECT_TRUE(is_writable(both.get()));
  EXPECT_FALSE(is_writable(-1));
}

}  // namespace
}  // namespace photonrun
