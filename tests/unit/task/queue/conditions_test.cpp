#include "task/queue/conditions.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace photon::task {
namespace {

using Function = std::function<void()>;

void call(ph_task_pe*, void* user) { (*static_cast<Function*>(user))(); }

TEST(TaskConditions, call_their_own_functions_in_order_until_they_are_cancelled) {
  Conditions conditions;
  std::vector<int> order;
  Function one = [&] { order.push_back(1); };
  Function two = [&] { order.push_back(2); };
  Function other = [&] { order.push_back(9); };
  const std::uint64_t first = conditions.add(Condition::begin_idle, {call, &one});
  conditions.add(Condition::begin_idle, {call, &two});
  conditions.add(Condition::end_idle, {call, &other});
  EXPECT_TRUE(conditions.has(Condition::begin_idle));
  EXPECT_FALSE(conditions.has(Condition::each_loop));
  conditions.raise(Condition::begin_idle, nullptr);
  EXPECT_TRUE(conditions.cancel(first));
  EXPECT_FALSE(conditions.cancel(first));
  EXPECT_FALSE(conditions.cancel(0));
  conditions.raise(Condition::begin_idle, nullptr);
  EXPECT_EQ(order, (std::vector<int>{1, 2, 2}));
}

TEST(TaskConditions, a_function_may_cancel_itself_and_those_behind_it) {
  Conditions conditions;
  int calls = 0;
  std::uint64_t mine = 0, next = 0;
  Function cancel = [&] {
    ++calls;
    EXPECT_TRUE(conditions.cancel(mine));
    EXPECT_TRUE(conditions.cancel(next));
  };
  Function never = [&] { ADD_FAILURE() << "it was cancelled"; };
  mine = conditions.add(Condition::each_loop, {call, &cancel});
  next = conditions.add(Condition::each_loop, {call, &never});
  conditions.raise(Condition::each_loop, nullptr);
  EXPECT_FALSE(conditions.has(Condition::each_loop));
  conditions.raise(Condition::each_loop, nullptr);
  EXPECT_EQ(calls, 1);
}

TEST(TaskConditions, a_function_may_add_one_which_has_its_turn_at_the_next_time) {
  Conditions conditions;
  int added = 0;
  Function late = [&] { ++added; };
  Function add = [&] {
    for (int i = 0; i < 100; ++i) conditions.add(Condition::still_idle, {call, &late});
  };
  const std::uint64_t name = conditions.add(Condition::still_idle, {call, &add});
  conditions.raise(Condition::still_idle, nullptr);
  EXPECT_EQ(added, 0);
  EXPECT_TRUE(conditions.cancel(name));
  conditions.raise(Condition::still_idle, nullptr);
  EXPECT_EQ(added, 100);
}

// As where a function runs tasks until nothing is left.
TEST(TaskConditions, what_is_raised_inside_itself_calls_no_cancelled_one) {
  Conditions conditions;
  int depth = 0, calls = 0;
  std::uint64_t name = 0;
  Function nested = [&] {
    ++calls;
    if (++depth == 1) {
      conditions.raise(Condition::end_idle, nullptr);
      EXPECT_TRUE(conditions.cancel(name));
      conditions.raise(Condition::end_idle, nullptr);
    }
    --depth;
  };
  name = conditions.add(Condition::end_idle, {call, &nested});
  conditions.raise(Condition::end_idle, nullptr);
  EXPECT_EQ(calls, 2);
  conditions.raise(Condition::end_idle, nullptr);
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace photon::task
