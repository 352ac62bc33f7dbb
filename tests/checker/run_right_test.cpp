// The right to run a service's user code (sync/run_right.hpp): one thread at a time has it, what is
// due when all are through has been run or is marked, and the lane's lock orders the runners.
#include "sync/run_right.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>

#include "checker/checker.hpp"
#include "checker/checker_policy.hpp"
#include "checker/verdict.hpp"

namespace photon::checker {
namespace {

// The lane's lock, as small as it can be.
struct Lock {
  CheckerPolicy::Atomic<std::uint64_t> word;
  void take() {
    for (std::uint64_t free = 0;
         !word.compare_exchange(free, 1, std::memory_order_acquire, std::memory_order_relaxed);
         free = 0)
      CheckerPolicy::relax();
  }
  void give() { word.store(0, std::memory_order_release); }
};

// As Services has it, with one service.
struct Runs {
  static constexpr unsigned kMostRounds = 2;

  Lock lock;
  sync::RunRight<CheckerPolicy> right;
  CheckerPolicy::Cell<std::uint64_t> bit;  // this and due: under the lock
  CheckerPolicy::Cell<std::uint64_t> due;
  CheckerPolicy::Cell<std::uint64_t> running;  // this and ran: of the thread that has the right
  CheckerPolicy::Cell<std::uint64_t> ran;

  void make_due() {
    due.set(due.get() + 1);
    bit.set(1);
  }
  // Under the lock, and so it ends.
  void run() {
    bit.set(0);
    if (!right.try_take()) return;
    for (unsigned round = 1;; ++round) {
      running.set(due.get());
      due.set(0);
      lock.give();
      ran.set(ran.get() + running.get());
      lock.take();
      if (right.take_more()) bit.set(1);
      if (bit.get() == 0 || round == kMostRounds) break;
      bit.set(0);
    }
    right.finish();
  }
};

// Two threads make one thing due each and run what is due; a third makes one due and leaves it.
void runners(Stage& stage) {
  stage.group("right");
  auto state = std::make_shared<Runs>();
  constexpr std::array kNames{"first", "second"};
  for (const char* name : kNames)
    stage.thread(name, [=] {
      state->lock.take();
      state->make_due();
      state->run();
      state->lock.give();
    });
  stage.thread("posts", [=] {
    state->lock.take();
    state->make_due();
    state->lock.give();
  });
  stage.finally([=] {
    expect(state->due.get() == 0 || state->bit.get() != 0, "what is left is marked");
    expect(state->ran.get() + state->due.get() == 3, "all has run once, or is left");
    expect(state->right.is_free(), "the right is free");
  });
}

TEST(RunRightChecked, one_runs_at_a_time_and_what_is_left_is_marked) {
  expect_proved(explore({}, runners));
  expect_proved(explore({.stale_loads = true}, runners));
}

TEST(RunRightChecked, every_order_of_the_lock_is_needed) {
  expect_found(explore({.weaken = {.release = true}}, runners), "data race");
  expect_found(explore({.weaken = {.acquire = true}}, runners), "data race");
}

// A runner that goes without asking for more.
void hasty(Stage& stage) {
  stage.group("right");
  auto state = std::make_shared<Runs>();
  constexpr std::array kNames{"first", "second"};
  for (const char* name : kNames)
    stage.thread(name, [=] {
      state->lock.take();
      state->make_due();
      state->bit.set(0);
      if (state->right.try_take()) {
        state->due.set(0);
        state->lock.give();
        state->lock.take();
        state->right.finish();
      }
      state->lock.give();
    });
  stage.finally(
      [=] { expect(state->due.get() == 0 || state->bit.get() != 0, "what is left is marked"); });
}

TEST(RunRightChecked, who_does_not_ask_for_more_leaves_something_unmarked) {
  expect_found(explore({}, hasty), "what is left is marked");
}

}  // namespace
}  // namespace photon::checker
