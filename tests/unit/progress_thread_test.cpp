// The thread that stands in for a silent caller: when it acts, when it leaves things alone, and
// that it goes home when the caller is back.
#include "engine/progress_thread.hpp"

#include <atomic>
#include <thread>

#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

Silence stand_in(EngineGroup& ranks, std::uint64_t& seen, Rest rests = {}) {
  LaneGuard guard(ranks.lane(0), LaneGuard::Kind::stand_in);
  EXPECT_EQ(guard.status(), PH_OK);
  return ranks[0].stand_in(guard, seen, rests);
}

TEST(ProgressThread, a_turn_of_the_caller_ends_the_silence_and_its_own_do_not) {
  Two two;
  std::uint64_t seen = two.ranks[0].turns();
  two.ranks[0].serve();
  EXPECT_EQ(stand_in(two.ranks, seen), Silence::over);
  seen = two.ranks[0].turns();
  EXPECT_EQ(stand_in(two.ranks, seen), Silence::quiet);
  EXPECT_EQ(stand_in(two.ranks, seen), Silence::quiet);
  EXPECT_EQ(seen, two.ranks[0].turns());
  EXPECT_EQ(two.count(0, PH_EITHER), 0u);
  EXPECT_EQ(stand_in(two.ranks, seen), Silence::over) << "he has probed";
}

TEST(ProgressThread, it_moves_what_has_come_and_leaves_the_completion_to_the_caller) {
  Two two;
  const auto source = filled(100, 1);
  std::uint64_t seen = two.ranks[0].turns();
  const ph_region mine = two.ranks.add(0, two.memory.bytes().subspan(4096));
  ASSERT_EQ(two.ranks[1].put(0, put_args(source, ph_at(&mine, 0), 1, 2)), PH_OK);
  EXPECT_EQ(stand_in(two.ranks, seen), Silence::busy);
  EXPECT_EQ(first_difference(two.memory.bytes().subspan(4096, 100), 1), 100u);
  const auto found = two.ranks.probe(0, PH_REMOTE);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].id, 2u);
}

TEST(ProgressThread, a_lane_with_somebody_inside_is_left_alone) {
  Two two;
  const LaneGuard inside(two.ranks.lane(0));
  EXPECT_EQ(LaneGuard(two.ranks.lane(0), LaneGuard::Kind::stand_in).status(), PH_AGAIN);
}

TEST(ProgressThread, a_caller_asleep_serves_himself) {
  Two two;
  std::thread caller([&] {
    LaneGuard guard(two.ranks.lane(0));
    EXPECT_EQ(two.ranks[0].wait(guard, {1, PH_LOCAL, nullptr}, PH_FOREVER), PH_OK);
  });
  two.ranks.fake(0).await_sleeper();
  std::uint64_t seen = two.ranks[0].turns();
  EXPECT_EQ(stand_in(two.ranks, seen, {true, false}), Silence::asleep);
  EXPECT_TRUE(two.ranks.fake(0).sleeper_is_left_alone());
  std::atomic<bool> inside = false;
  std::thread behind([&] {
    LaneGuard guard(two.ranks.lane(0), LaneGuard::Kind::stand_in);
    inside = true;
    EXPECT_EQ(two.ranks[0].stand_in(guard, seen, {false, true}), Silence::asleep);
  });
  while (!inside) std::this_thread::yield();
  {  // once it has gone to sleep behind him, for then it leaves the lane
    LaneGuard guard(two.ranks.lane(0));
    ASSERT_EQ(two.ranks[0].put_u64(1, {nullptr, 0}, {}, {1, 1}), PH_OK);
  }
  caller.join();
  behind.join();
}

TEST(ProgressThread, one_that_was_relieved_does_nothing_more) {
  Two two;
  std::uint64_t seen = two.ranks[0].turns();
  two.ranks[0].relieve();
  EXPECT_EQ(stand_in(two.ranks, seen, {true, true}), Silence::over);
  EXPECT_EQ(two.ranks[0].turns(), seen);
}

std::unique_ptr<ProgressThread> started(EngineGroup& ranks) {
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
