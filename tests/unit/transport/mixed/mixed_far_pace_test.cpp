// When the far transport is looked at, and how often its owner is polled.
#include "transport/mixed/mixed_far_pace.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace photon::transport::mixed {
namespace {

constexpr std::int64_t kBegin = 5'000'000'000;

// How many looks so many polls come to, `step_ns` apart. A look takes no time.
unsigned looks_in(FarPace& pace, std::int64_t& now, std::int64_t step_ns, int polls) {
  unsigned looks = 0;
  for (int i = 0; i < polls; ++i) {
    now += step_ns;
    if (!pace.poll(now)) continue;
    ++looks;
    pace.looked(now, false);
  }
  return looks;
}

TEST(FarPaceTest, an_idle_side_is_looked_at_by_the_clock) {
  FarPace pace;
  std::int64_t now = kBegin;
  looks_in(pace, now, 100, 10);
  EXPECT_EQ(looks_in(pace, now, 400, 10'000), 200u);  // 4 ms
}

TEST(FarPaceTest, use_and_news_make_it_active_for_a_while) {
  FarPace pace;
  std::int64_t now = kBegin;
  looks_in(pace, now, 100, 1000);
  ASSERT_EQ(pace.interval(), FarPace::kMostInterval);
  pace.use();
  EXPECT_EQ(pace.interval(), 1u);
  EXPECT_EQ(looks_in(pace, now, 250, 2000), 1000u);  // half a millisecond, each time it has rested
  EXPECT_EQ(pace.interval(), 1u);
  looks_in(pace, now, 250, 4000);
  EXPECT_EQ(pace.interval(), FarPace::kMostInterval);
  pace.ask();
  ASSERT_TRUE(pace.poll(now += 100));
  pace.looked(now, true);
  EXPECT_EQ(pace.interval(), 1u);
}

TEST(FarPaceTest, after_a_long_look_it_rests_as_long_but_no_longer_than_when_idle) {
  for (const std::int64_t took_ns : {std::int64_t{5'000}, 10 * FarPace::kIdleNs}) {
    FarPace pace;
    pace.use();
    ASSERT_TRUE(pace.poll(kBegin));
    const std::int64_t over = kBegin + took_ns;
    pace.looked(over, true);
    const std::int64_t rest_ns = std::min(took_ns, FarPace::kIdleNs);
    EXPECT_FALSE(pace.poll(over + rest_ns - 1));
    EXPECT_TRUE(pace.poll(over + rest_ns));
  }
}

TEST(FarPaceTest, what_is_asked_for_is_due_at_once_and_once) {
  FarPace pace;
  std::int64_t now = kBegin;
  looks_in(pace, now, 100, 10);
  pace.ask();
  EXPECT_TRUE(pace.poll(now += 1));
  pace.looked(now, false);
  EXPECT_FALSE(pace.poll(now += 1));
}

// Polled as the engine does it: at every interval()-th probe.
TEST(FarPaceTest, a_rank_that_probes_seldom_is_polled_at_each_of_its_probes_soon) {
  FarPace pace;
  std::int64_t now = kBegin;
  unsigned probes = 0;
  while (pace.interval() != 1) {
    const unsigned until_poll = pace.interval();
    probes += until_poll;
    looks_in(pace, now, until_poll * std::int64_t{10'000'000}, 1);
  }
  EXPECT_EQ(probes, FarPace::kMostInterval);
  looks_in(pace, now, 10'000, 10);
  EXPECT_EQ(pace.interval(), FarPace::kMostInterval);
}

}  // namespace
}  // namespace photon::transport::mixed
