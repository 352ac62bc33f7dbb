#include "task/queue/timers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "rounds.hpp"

namespace photon::task {
namespace {

constexpr std::uint64_t kAll = ~std::uint64_t{0};

void nothing(ph_task_pe*, void*) {}
Call call_of(std::uint64_t number) {
  return {nothing, reinterpret_cast<void*>(static_cast<std::uintptr_t>(number))};
}
std::uint64_t number_of(const Call& call) { return reinterpret_cast<std::uintptr_t>(call.user); }

TEST(TaskTimers, come_in_the_order_of_their_times_and_equal_ones_as_they_were_armed) {
  Timers timers;
  for (const std::int64_t at : {30, 10, 20, 10, 30, 10}) timers.arm(at, 0, call_of(timers.turn()));
  EXPECT_EQ(timers.first_ns(), 10);
  std::vector<std::uint64_t> order;
  while (const auto call = timers.take_due(30, kAll)) order.push_back(number_of(*call));
  EXPECT_EQ(order, (std::vector<std::uint64_t>{1, 3, 5, 2, 0, 4}));
  EXPECT_EQ(timers.first_ns(), Timers::kNever);
}

TEST(TaskTimers, are_not_due_before_their_time) {
  Timers timers;
  timers.arm(100, 0, call_of(1));
  EXPECT_FALSE(timers.take_due(99, kAll));
  EXPECT_TRUE(timers.take_due(100, kAll));
}

TEST(TaskTimers, that_are_armed_while_others_run_wait_for_the_next_round) {
  Timers timers;
  timers.arm(5, 0, call_of(1));
  const std::uint64_t before = timers.turn();
  EXPECT_TRUE(timers.take_due(5, before));
  timers.arm(5, 0, call_of(2));
  EXPECT_FALSE(timers.take_due(5, before));
  EXPECT_TRUE(timers.take_due(5, timers.turn()));
}

TEST(TaskTimers, with_a_period_are_armed_again_and_leave_out_what_has_passed) {
  Timers timers;
  const std::uint64_t name = timers.arm(1000, 2, call_of(1));
  ASSERT_TRUE(timers.take_due(1100, kAll));
  EXPECT_EQ(timers.first_ns(), 3000) << "a period behind the time at which it was due";
  ASSERT_TRUE(timers.take_due(9000, kAll));
  EXPECT_EQ(timers.first_ns(), 11'000) << "late by whole periods: behind now";
  EXPECT_FALSE(timers.take_due(9000, kAll));
  EXPECT_TRUE(timers.cancel(name));
  EXPECT_EQ(timers.size(), 0u);
}

TEST(TaskTimers, a_name_of_one_that_is_over_names_no_later_one) {
  Timers timers;
  const std::uint64_t once = timers.arm(1, 0, call_of(1));
  ASSERT_TRUE(timers.take_due(1, kAll));
  const std::uint64_t next = timers.arm(1, 0, call_of(2));
  EXPECT_NE(once, next);
  EXPECT_FALSE(timers.cancel(once));
  EXPECT_TRUE(timers.cancel(next));
  EXPECT_FALSE(timers.cancel(next));
  EXPECT_FALSE(timers.cancel(0));
  EXPECT_FALSE(timers.cancel(~std::uint64_t{0}));
}

TEST(TaskTimers, a_time_beyond_the_clock_is_never_reached) {
  EXPECT_EQ(Timers::after(1'000'000, ~std::uint64_t{0}), Timers::kNever);
  EXPECT_EQ(Timers::after(1'000'000, ~std::uint64_t{0} / 2), Timers::kNever);
  EXPECT_EQ(Timers::after(1'000'000, Timers::kNever / 1000), Timers::kNever);
  EXPECT_EQ(Timers::after(500, 3), 3500);
  Timers timers;
  timers.arm(7, ~std::uint64_t{0}, call_of(1));
  ASSERT_TRUE(timers.take_due(8, kAll));
  EXPECT_EQ(timers.first_ns(), Timers::kNever);
}

TEST(TaskTimers, a_random_mixture_is_as_a_sorted_list) {
  std::mt19937 random(7);
  Timers timers;
  std::map<std::pair<std::int64_t, std::uint64_t>, std::uint64_t> sorted;  // the names
  std::int64_t now = 0;
  for (std::uint64_t i = 0; i < photon::test::rounds(20'000, 2'000); ++i) {
    if (random() % 3 != 0) {
      const std::int64_t at = now + static_cast<std::int64_t>(random() % 50);
      const std::uint64_t turn = timers.turn();
      sorted[{at, turn}] = timers.arm(at, 0, call_of(turn));
    } else if (!sorted.empty() && random() % 2 == 0) {
      const auto one = std::next(sorted.begin(), static_cast<long>(random() % sorted.size()));
      EXPECT_TRUE(timers.cancel(one->second));
      sorted.erase(one);
    } else {
      now += static_cast<std::int64_t>(random() % 20);
      while (const auto call = timers.take_due(now, kAll)) {
        ASSERT_FALSE(sorted.empty());
        EXPECT_LE(sorted.begin()->first.first, now);
        ASSERT_EQ(number_of(*call), sorted.begin()->first.second);
        sorted.erase(sorted.begin());
      }
    }
    ASSERT_EQ(timers.size(), sorted.size());
    ASSERT_EQ(timers.first_ns(), sorted.empty() ? Timers::kNever : sorted.begin()->first.first);
  }
}

TEST(TaskTimers, names_leave_the_upper_bits_to_their_caller_however_often_a_slot_is_used) {
  Timers timers;
  std::uint64_t first = timers.arm(1, 0, call_of(1));
  std::uint64_t most = 0;
  for (std::uint64_t i = 0; i < photon::test::rounds(100'000, 1'000); ++i) {
    ASSERT_TRUE(timers.cancel(first));
    ASSERT_FALSE(timers.cancel(first));
    first = timers.arm(1, 0, call_of(1));
    most = std::max(most, first);
  }
  EXPECT_EQ(most >> kNameWidth, 0u);
}

}  // namespace
}  // namespace photon::task
