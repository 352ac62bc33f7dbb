#include "brief_write.hpp"

#include <gtest/gtest.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>

#include "fd.hpp"

namespace photonrun {
namespace {

void no_alarm(int /*number*/) {}

TEST(BriefWrite, writes_what_there_is_room_for) {
  const Pipe pipe = make_pipe();
  ASSERT_EQ(write_briefly(pipe.write.get(), "words"), 5);
  std::array<char, 16> read{};
  EXPECT_EQ(::read(pipe.read.get(), read.data(), read.size()), 5);
  EXPECT_EQ(std::string(read.data()), "words");
}

// The pipe's writing end blocks: without the alarm this test would not end.
TEST(BriefWrite, gives_up_where_nobody_reads) {
  const Pipe pipe = make_pipe();
  const std::string much(1 << 20, 'x');
  const ssize_t first = write_briefly(pipe.write.get(), much);
  EXPECT_GT(first, 0);
  EXPECT_LT(first, 1 << 20);
  EXPECT_EQ(write_briefly(pipe.write.get(), much), -1);
  EXPECT_EQ(errno, EAGAIN);
}

TEST(BriefWrite, says_what_else_is_wrong) {
  EXPECT_EQ(write_briefly(-1, "words"), -1);
  EXPECT_EQ(errno, EBADF);
}

TEST(BriefWrite, leaves_the_alarm_of_the_process_as_it_was) {
  const auto before = std::signal(SIGALRM, no_alarm);
  const itimerval far{.it_interval = {}, .it_value = {.tv_sec = 1000, .tv_usec = 0}};
  itimerval timer_before{};
  ASSERT_EQ(::setitimer(ITIMER_REAL, &far, &timer_before), 0);
  const Pipe pipe = make_pipe();
  EXPECT_EQ(write_briefly(pipe.write.get(), "words"), 5);
  itimerval now{};
  ASSERT_EQ(::setitimer(ITIMER_REAL, &timer_before, &now), 0);
  EXPECT_GT(now.it_value.tv_sec, 100);
  EXPECT_EQ(now.it_interval.tv_usec, 0);
  EXPECT_EQ(std::signal(SIGALRM, before), &no_alarm);
}

}  // namespace
}  // namespace photonrun
