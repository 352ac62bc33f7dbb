#include "task/queue/calls.hpp"

#include <gtest/gtest.h>
#include <photon/types.h>

#include <functional>
#include <string>

namespace photon::task {
namespace {

using Note = std::function<void()>;

void run_note(ph_task_pe*, void* user) { (*static_cast<Note*>(user))(); }

TEST(TaskCalls, a_look_calls_what_is_due_and_then_what_is_for_each_loop) {
  Calls calls(nullptr);
  std::string seen;
  Note due = [&] { seen += 'd'; };
  Note loop = [&] { seen += 'l'; };
  calls.timers().arm(10, 0, {run_note, &due});
  calls.conditions().add(Condition::each_loop, {run_note, &loop});
  for (const std::int64_t now : {9, 10, 11}) calls.look(now);
  EXPECT_EQ(seen, "ldll");
}

TEST(TaskCalls, what_a_function_arms_waits_for_the_next_look) {
  Calls calls(nullptr);
  int times = 0;
  Note again = [&] {
    ++times;
    EXPECT_TRUE(calls.is_inside());
    calls.timers().arm(5, 0, {run_note, &again});
  };
  calls.timers().arm(5, 0, {run_note, &again});
  calls.look(5);
  EXPECT_EQ(times, 1);
  EXPECT_FALSE(calls.is_inside());
  calls.look(5);
  EXPECT_EQ(times, 2);
}

TEST(TaskCalls, idleness_begins_once_and_stays_until_it_is_ended) {
  Calls calls(nullptr);
  EXPECT_FALSE(calls.begin_idle()) << "no function was called";
  EXPECT_TRUE(calls.is_idle());
  calls.end_idle();
  EXPECT_FALSE(calls.is_idle());
  std::string seen;
  Note begins = [&] { seen += 'b'; };
  Note stays = [&] { seen += 's'; };
  Note ends = [&] { seen += 'e'; };
  calls.conditions().add(Condition::begin_idle, {run_note, &begins});
  calls.conditions().add(Condition::still_idle, {run_note, &stays});
  calls.conditions().add(Condition::end_idle, {run_note, &ends});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(calls.begin_idle());
  calls.end_idle();
  EXPECT_TRUE(calls.begin_idle());
  EXPECT_EQ(seen, "bsseb");
}

TEST(TaskCalls, an_idle_pe_sleeps_until_the_next_timer_and_never_for_too_little) {
  Calls calls(nullptr);
  Note none = [] {};
  EXPECT_EQ(calls.sleep_us(77), PH_FOREVER);
  calls.timers().arm(Timers::kNever, 0, {run_note, &none});
  EXPECT_EQ(calls.sleep_us(77), PH_FOREVER);
  calls.timers().arm(Timers::kNever - 1, 0, {run_note, &none});
  EXPECT_EQ(calls.sleep_us(0), 3'600'000'000) << "it looks again, and does not wrap";
  calls.timers().arm(5'000'001, 0, {run_note, &none});
  EXPECT_EQ(calls.sleep_us(0), 5001);
  EXPECT_EQ(calls.sleep_us(5'000'000), 1);
  EXPECT_EQ(calls.sleep_us(5'000'001), 0);
  EXPECT_EQ(calls.sleep_us(6'000'000), 0);
  calls.conditions().add(Condition::still_idle, {run_note, &none});
  EXPECT_EQ(calls.sleep_us(0), 1000);
  EXPECT_FALSE(calls.polls());
  calls.conditions().add(Condition::each_loop, {run_note, &none});
  EXPECT_TRUE(calls.polls());
  EXPECT_EQ(calls.sleep_us(0), 0) << "it does not sleep at all";
}

}  // namespace
}  // namespace photon::task
