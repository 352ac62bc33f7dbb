// How long a rank waits for a launcher that holds its end of the channel and says nothing.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <string>
#include <thread>

#include "boot/launch_boot.hpp"
#include "given_time.hpp"

namespace photon::test {
namespace {

TEST(LaunchPatience, ends_after_half_a_minute_and_says_so) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
  const base::UniqueFd launcher(ends[0]);
  GivenTime time;
  const std::int64_t begin_ns = time.now_ns();
  std::atomic<bool> is_over = false;
  std::thread mover([&] {
    for (; !is_over; std::this_thread::yield()) time.move_ns(1'000'000'000);
  });
  const auto opened = boot::LaunchBoot::open(std::to_string(ends[1]), time.source());
  is_over = true;
  mover.join();
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().what.find("the launcher does not answer"), std::string::npos)
      << opened.error().what;
  EXPECT_GT(time.now_ns() - begin_ns, 30'000'000'000);
}

}  // namespace
}  // namespace photon::test
