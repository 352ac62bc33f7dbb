#include "engine/parts/active_lanes.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace photon::engine {
namespace {

constexpr std::int64_t kMs = 1'000'000;

// A lane and the thread that polls it.
struct Worker {
  Worker(ActiveLanes& active_lanes, ActiveLanes::Thread its_thread)
      : lane(active_lanes), thread(its_thread) {}
  unsigned note(std::int64_t now_ns) { return lane.note(now_ns, thread); }
  ActiveLane lane;
  ActiveLanes::Thread thread;
};

// `lane` makes its turns for a while, ten times in each of so many milliseconds.
unsigned work(Worker& lane, std::int64_t& now_ns, unsigned milliseconds = 5) {
  unsigned at_work = 0;
  for (unsigned i = 0; i < 10 * milliseconds; ++i) at_work = lane.note(now_ns += kMs / 10);
  return at_work;
}

TEST(ActiveLanes, a_lane_is_at_work_while_its_turns_follow_each_other_closely) {
  ActiveLanes active_lanes;
  Worker one(active_lanes, 1);
  Worker other(active_lanes, 2);
  std::int64_t now_ns = 5;
  EXPECT_EQ(one.note(now_ns), 1u);
  EXPECT_EQ(work(one, now_ns), 1u);
  EXPECT_EQ(work(other, now_ns), 2u);
  EXPECT_EQ(work(one, now_ns), 2u);
}

TEST(ActiveLanes, a_lane_whose_thread_dozes_is_not_at_work) {
  ActiveLanes active_lanes;
  Worker one(active_lanes, 1);
  Worker dozing(active_lanes, 2);
  std::int64_t now_ns = 5;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(dozing.note(now_ns += 100 * kMs), 1u);
  EXPECT_EQ(work(one, now_ns), 1u);
}

TEST(ActiveLanes, a_lane_that_has_fallen_silent_or_was_closed_is_counted_no_more) {
  ActiveLanes active_lanes;
  Worker one(active_lanes, 1);
  auto other = std::make_unique<Worker>(active_lanes, 2);
  std::int64_t now_ns = 5;
  work(*other, now_ns);
  EXPECT_EQ(work(one, now_ns), 2u);
  now_ns += ActiveLanes::kLongNs;
  EXPECT_EQ(work(one, now_ns), 1u);
  work(*other, now_ns);
  EXPECT_EQ(work(one, now_ns), 2u);
  other.reset();
  EXPECT_EQ(work(one, now_ns), 1u);
}

TEST(ActiveLanes, a_lane_that_the_thread_of_another_lane_polls_is_no_more_work) {
  ActiveLanes active_lanes;
  Worker one(active_lanes, 1);
  Worker hidden(active_lanes, 1);
  Worker other(active_lanes, 2);
  std::int64_t now_ns = 5;
  work(one, now_ns);
  EXPECT_EQ(work(hidden, now_ns), 1u);
  EXPECT_EQ(work(other, now_ns), 2u);
  hidden.thread = 3;
  EXPECT_EQ(work(hidden, now_ns), 3u) << "it has got a thread of its own";
}

TEST(ActiveLanes, places_are_used_again_and_the_last_is_shared) {
  ActiveLanes active_lanes;
  std::int64_t now_ns = 5;
  for (int round = 0; round < 2; ++round) {
    std::vector<std::unique_ptr<Worker>> lanes;
    for (unsigned i = 0; i < ActiveLanes::kPlaces + 3; ++i)
      lanes.push_back(std::make_unique<Worker>(active_lanes, i));
    for (const auto& lane : lanes) work(*lane, now_ns, 2);
    EXPECT_EQ(work(*lanes.front(), now_ns), ActiveLanes::kPlaces);
    now_ns += ActiveLanes::kLongNs;
  }
  Worker alone(active_lanes, 1);
  EXPECT_EQ(work(alone, now_ns), 1u);
}

}  // namespace
}  // namespace photon::engine
