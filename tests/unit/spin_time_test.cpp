#include "engine/parts/spin_time.hpp"

#include <gtest/gtest.h>

namespace photon::engine {
namespace {

constexpr std::uint64_t kUs = 30;
constexpr std::int64_t kLeast = 30'000;

TEST(SpinTime, is_what_was_configured_until_a_wait_has_slept) {
  EXPECT_EQ(SpinTime(kUs).ns(), kLeast);
}

TEST(SpinTime, outlasts_a_wait_that_ended_soon_after_it_slept) {
  SpinTime time(kUs);
  time.slept(60'000);
  EXPECT_EQ(time.ns(), 75'000);
  time.slept(40'000);
  EXPECT_EQ(time.ns(), 75'000) << "a shorter one says nothing against it";
}

TEST(SpinTime, has_a_bound) {
  SpinTime time(kUs);
  time.slept(SpinTime::kMost * kLeast);
  EXPECT_EQ(time.ns(), SpinTime::kMost * kLeast);
}

TEST(SpinTime, long_waits_bring_it_back_by_halves) {
  SpinTime time(kUs);
  time.slept(100'000);
  time.slept(1'000'000'000);
  EXPECT_EQ(time.ns(), 62'500);
  time.slept(SpinTime::kMost * kLeast + 1);
  EXPECT_EQ(time.ns(), 31'250);
  time.slept(1'000'000'000);
  EXPECT_EQ(time.ns(), kLeast);
}

TEST(SpinTime, who_does_not_spin_never_does) {
  SpinTime time(0);
  time.slept(0);
  time.slept(1);
  EXPECT_EQ(time.ns(), 0);
}

}  // namespace
}  // namespace photon::engine
