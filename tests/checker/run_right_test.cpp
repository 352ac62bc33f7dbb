// The right to run a service's user code (sync/run_right.hpp): one thread at a time has it, and
// nothing that became due is left over when all are through.
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

// Each thread makes one thing due under the lock, and runs what is due if it gets the right.
void runners(Stage& stage) {
  struct State {
    Lock lock;
    sync::RunRight<CheckerPolicy> right;
    CheckerPolicy::Cell<std::uint64_t> due;      // under the lock
    CheckerPolicy::Cell<std::uint64_t> running;  // of the thread that has the right
    CheckerPolicy::Cell<std::uint64_t> ran;
  };
  stage.group("right");
  auto state = std::make_shared<State>();
  constexpr std::array kNames{"first", "second"};
  for (const char* name : kNames)
    stage.thread(name, [=] {
      State& all = *state;
      all.lock.take();
      all.due.set(all.due.get() + 1);
      if (!all.right.try_take()) return all.lock.give();
      for (;;) {
        all.running.set(all.due.get());
        all.due.set(0);
        all.lock.give();
        all.ran.set(all.ran.get() + all.running.get());
        if (all.right.finish()) return;
        all.lock.take();
      }
    });
  stage.finally([=] {
    expect(state->due.get() == 0, "nothing is left over");
    expect(state->ran.get() == 2, "all has run, each once");
    expect(state->right.is_free(), "the right is free");
  });
}

TEST(RunRightChecked, one_runs_at_a_time_and_nothing_is_left_over) {
  expect_proved(explore({}, runners));
  expect_proved(explore({.stale_loads = true}, runners));
}

TEST(RunRightChecked, every_order_is_needed) {
  expect_found(explore({.weaken = {.release = true}}, runners), "data race");
  expect_found(explore({.weaken = {.acquire = true}}, runners), "data race");
}

}  // namespace
}  // namespace photon::checker
