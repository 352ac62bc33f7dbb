#include "transport/network/wakeup.hpp"

#include <gtest/gtest.h>
#include <poll.h>

namespace photon::transport::network {
namespace {

bool is_readable(const Wakeup& wakeup) {
  pollfd one{wakeup.fd(), POLLIN, 0};
  return ::poll(&one, 1, 0) == 1;
}

TEST(CarriedWakeup, stays_readable_from_a_ring_until_it_is_drained) {
  Wakeup wakeup;
  ASSERT_TRUE(wakeup.open());
  EXPECT_FALSE(is_readable(wakeup));
  wakeup.ring();
  wakeup.ring();
  EXPECT_TRUE(is_readable(wakeup));
  wakeup.drain();
  EXPECT_FALSE(is_readable(wakeup));
  wakeup.drain();  // of nothing
  EXPECT_FALSE(is_readable(wakeup));
}

TEST(CarriedWakeup, is_rung_by_news_while_a_sleep_is_announced_and_not_else) {
  Wakeup wakeup;
  ASSERT_TRUE(wakeup.open());
  wakeup.ring_if_armed();
  EXPECT_FALSE(is_readable(wakeup));
  wakeup.arm();
  EXPECT_TRUE(wakeup.is_armed());
  EXPECT_FALSE(is_readable(wakeup));
  wakeup.ring_if_armed();
  EXPECT_TRUE(is_readable(wakeup));
  wakeup.disarm();
  EXPECT_FALSE(wakeup.is_armed());
  wakeup.drain();
  wakeup.ring_if_armed();
  EXPECT_FALSE(is_readable(wakeup));
}

}  // namespace
}  // namespace photon::transport::network
