// The thread that stands in for a silent caller: when it acts, and that it goes home when the
// caller is back.
#include "engine/progress_thread.hpp"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

TEST(ProgressThread, a_turn_that_took_a_slice_of_the_scheduler_tells_of_a_core_that_others_want) {
  using std::chrono::microseconds;
  SharedCore core;
  const SharedCore::Time begin{std::chrono::hours(1)};
  EXPECT_FALSE(core.is_shared(begin));
  core.spun(begin, begin + SharedCore::kAway - microseconds(1));
  EXPECT_FALSE(core.is_shared(begin + SharedCore::kAway));
  const auto end = begin + SharedCore::kAway;
  core.spun(begin, end);
  EXPECT_TRUE(core.is_shared(end));
  EXPECT_TRUE(core.is_shared(end + SharedCore::kRemembered - microseconds(1)));
  EXPECT_FALSE(core.is_shared(end + SharedCore::kRemembered)) << "it is tried again";
}

TEST(ProgressThread, it_yields_a_while_behind_news_only_where_its_last_sleep_was_short) {
  using std::chrono::microseconds;
  YieldTime yield;
  const YieldTime::Time now{std::chrono::hours(1)};
  yield.moved(now);
  EXPECT_FALSE(yield.lasts(now)) << "nothing is known yet";
  yield.slept(YieldTime::kMost);
  EXPECT_FALSE(yield.lasts(now));
  yield.slept(YieldTime::kMost - microseconds(1));
  EXPECT_TRUE(yield.lasts(now + YieldTime::kMost - microseconds(1)));
  EXPECT_FALSE(yield.lasts(now + YieldTime::kMost)) << "it goes on for as long as a sleep would";
  yield.moved(now + YieldTime::kMost);
  EXPECT_TRUE(yield.lasts(now + YieldTime::kMost));
  yield.slept(std::chrono::milliseconds(1));
  EXPECT_FALSE(yield.lasts(now + YieldTime::kMost));
}

std::shared_ptr<ProgressThread> started(EngineGroup& ranks) {
  auto thread = ProgressThread::start(ranks.lane(0), ranks[0]);
  EXPECT_TRUE(thread);
  (*thread)->begin();
  return std::move(*thread);
}

// What a caller does who is back, while the thread sleeps in his place.
void expect_sent_home(const std::function<void(Engine&, LaneGuard&)>& come_back) {
  Two two;
  const auto thread = started(two.ranks);
  two.ranks.fake(0).await_sleeper();
  {
    LaneGuard guard(two.ranks.lane(0));
    come_back(two.ranks[0], guard);
    EXPECT_FALSE(two.ranks.fake(0).sleeper_is_left_alone());
  }
  thread->stop();
  thread->stop();
}

TEST(ProgressThread, it_sleeps_until_the_caller_waits) {
  expect_sent_home([](Engine& engine, LaneGuard& guard) {
    EXPECT_EQ(engine.wait(guard, {1, PH_LOCAL, nullptr}, 0), PH_TIMEOUT);
  });
}

TEST(ProgressThread, it_sleeps_until_the_caller_has_probed_for_a_while) {
  expect_sent_home([](Engine& engine, LaneGuard&) {
    for (int turn = 0; turn < 256; ++turn) engine.serve();
  });
}

TEST(ProgressThread, it_sleeps_until_the_caller_posts) {
  expect_sent_home([](Engine& engine, LaneGuard&) {
    EXPECT_EQ(engine.put_u64(1, {nullptr, 0}, {}, {1, 1}), PH_OK);
  });
}

TEST(ProgressThread, it_ends_while_it_sleeps_and_while_it_watches) {
  Two two;
  auto asleep = started(two.ranks);
  two.ranks.fake(0).await_sleeper();
  asleep.reset();
  auto relieved = started(two.ranks);
  relieved.reset();
}

// As beside a caller who calls all the time and then computes.
TEST(ProgressThread, an_operation_that_queues_ends_its_longest_pause) {
  FakeOptions chosen = options();
  chosen.config.progress_silence_us = 3'600'000'000;
  Two two(chosen);
  const auto thread = started(two.ranks);
  while (!thread->dozes()) std::this_thread::yield();
  LaneGuard guard(two.ranks.lane(0));
  ASSERT_EQ(two.ranks[0].notify(1, 1), PH_OK);
  EXPECT_TRUE(thread->dozes()) << "what goes at once is no affair of its";
  std::vector<std::byte> got(100);
  ASSERT_EQ(two.ranks[0].get(1, two.get(got)), PH_OK);
  EXPECT_FALSE(thread->dozes());
  guard.release();
  thread->stop();
}

TEST(ProgressThread, one_that_never_began_ends_as_well) {
  Two two;
  const auto turns = two.ranks[0].turns();
  auto thread = ProgressThread::start(two.ranks.lane(0), two.ranks[0]);
  ASSERT_TRUE(thread);
  thread->reset();
  EXPECT_EQ(two.ranks[0].turns(), turns);
}

TEST(ProgressThread, it_answers_for_a_caller_who_makes_no_call) {
  FakeOptions chosen = options();
  chosen.config.overflow_total_bytes = 1 << 20;  // of what it answers nothing is taken meanwhile
  Two two(chosen, Ground::shm);
  const auto thread = started(two.ranks);
  LaneGuard guard(two.ranks.lane(1));
  for (int round = 0; round < 20; ++round) {
    ASSERT_EQ(two.ranks[1].put(0, notice()), PH_OK);
    EXPECT_EQ(two.ranks[1].flush(guard, 0, 10'000'000), PH_OK);
  }
  thread->stop();
  EXPECT_EQ(two.ranks.probe(0, PH_REMOTE).size(), 20u);
}

}  // namespace
}  // namespace photon::engine::test
