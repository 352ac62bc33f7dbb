// The wake word (sync/wake_word.hpp): in every interleaving a sleeper is woken and sees what the
// wakers did before; without its fences or its orders it is not, or does not.
#include "sync/wake_word.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "checker/checker.hpp"
#include "checker/checker_policy.hpp"
#include "checker/verdict.hpp"

namespace photon::checker {
namespace {

// Each waker sets its flag, then the word. The sleeper goes on until it has seen all flags.
Scenario waking(unsigned wakers) {
  struct Lane {
    sync::WakeWord<CheckerPolicy> word;
    EventFd event;
    CheckerPolicy::Atomic<std::uint64_t> flags[2];
  };
  return [wakers](Stage& stage) {
    stage.group("lane");
    auto lane = std::make_shared<Lane>();
    stage.thread("sleeper", [=] {
      const auto all_set = [&] {
        for (unsigned i = 0; i < wakers; ++i)
          if (lane->flags[i].load(std::memory_order_relaxed) == 0) return false;
        return true;
      };
      while (!all_set()) {
        if (lane->word.take()) continue;  // as ph_wait() returns: look again at the flags
        lane->word.arm();
        if (!lane->word.is_set()) lane->event.read();
        lane->word.disarm();
      }
    });
    for (unsigned i = 0; i < wakers; ++i)
      stage.thread("waker " + std::to_string(i), [=] {
        lane->flags[i].store(1, std::memory_order_relaxed);
        if (lane->word.set()) lane->event.write();
      });
  };
}

TEST(WakeWordChecked, no_wake_up_is_lost_and_what_was_done_before_it_is_seen) {
  expect_proved(explore({}, waking(1)));
  expect_proved(explore({.stale_loads = true}, waking(1)));
  expect_proved(explore({}, waking(2)));
  expect_proved(explore({.stale_loads = true}, waking(2)));
}

TEST(WakeWordChecked, without_its_fences_one_is_lost) {
  const Options no_fence{.weaken = {.full_fence = true}};
  expect_found(explore(no_fence, waking(1)), "deadlock: nothing can wake sleeper");
}

}  // namespace
}  // namespace photon::checker
