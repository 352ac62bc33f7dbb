#include "base/clock.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace photon::base {
namespace {

TEST(Clock, never_goes_back) {
  std::int64_t last_ns = now_ns();
  for (int i = 0; i < 100000; ++i) {
    const std::int64_t next_ns = now_ns();
    ASSERT_GE(next_ns, last_ns);
    last_ns = next_ns;
  }
}

TEST(Clock, counts_nanoseconds) {
  const std::int64_t start_ns = now_ns();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const std::int64_t passed_ns = now_ns() - start_ns;
  EXPECT_GE(passed_ns, 5'000'000);
  EXPECT_LT(passed_ns, 60'000'000'000);
}

}  // namespace
}  // namespace photon::base
