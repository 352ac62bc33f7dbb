#include "base/time_source.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/timerfd.h>

#include "base/unique_fd.hpp"
#include "given_time.hpp"

namespace photon::base {
namespace {

class TimeSourceTest : public testing::Test {
 protected:
  bool rings(int within_ms = 0) const {
    pollfd entry{.fd = timer(), .events = POLLIN, .revents = 0};
    return ::poll(&entry, 1, within_ms) == 1;
  }
  int timer() const { return timer_.get(); }

 private:
  const UniqueFd timer_{::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)};
};

TEST_F(TimeSourceTest, of_the_system_goes_by_itself_and_rings) {
  const TimeSource time;
  const std::int64_t before_ns = now_ns(), at_ns = time.now_ns();
  EXPECT_GE(at_ns, before_ns);
  EXPECT_LE(at_ns, now_ns());
  EXPECT_FALSE(time.pause());
  time.ring_at(timer(), at_ns + 1'000'000);
  EXPECT_TRUE(rings(20'000));
  EXPECT_GE(time.now_ns(), at_ns + 1'000'000);
}

TEST_F(TimeSourceTest, of_the_system_rings_no_more_when_it_is_told_so) {
  const TimeSource time;
  time.ring_at(timer(), 1);  // long ago
  EXPECT_TRUE(rings(20'000));
  time.ring_at(timer(), 0);
  EXPECT_FALSE(rings());
}

TEST_F(TimeSourceTest, that_is_given_stands_still_until_it_is_moved) {
  test::GivenTime given;
  const TimeSource time = given.source();
  const std::int64_t begin_ns = time.now_ns();
  EXPECT_EQ(time.now_ns(), begin_ns);
  given.move_ns(5);
  EXPECT_EQ(time.now_ns(), begin_ns + 5);
  EXPECT_TRUE(time.pause());
  EXPECT_EQ(time.now_ns(), begin_ns + 5 + test::GivenTime::kPauseNs);
}

TEST_F(TimeSourceTest, that_is_given_rings_when_it_is_there_and_not_before) {
  test::GivenTime given;
  const TimeSource time = given.source();
  time.ring_at(timer(), time.now_ns() + 1'000);
  EXPECT_EQ(given.next_ns(), time.now_ns() + 1'000);
  given.move_ns(999);
  EXPECT_FALSE(rings());
  given.move_ns(1);
  EXPECT_TRUE(rings(20'000));
  time.ring_at(timer(), time.now_ns() + 1'000);
  EXPECT_FALSE(rings()) << "it is set anew";
  time.ring_at(timer(), 0);
  given.move_ns(1'000);
  EXPECT_FALSE(rings());
  time.ring_at(timer(), time.now_ns() - 1);
  EXPECT_TRUE(rings(20'000)) << "it is due already";
}

}  // namespace
}  // namespace photon::base
