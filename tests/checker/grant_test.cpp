// Buffers that are granted ahead (docs/mailbox.md): their source stores under the intent word and
// then says so; their owner counts what was said, or takes the buffer back without waiting for
// anybody. What is the user's again is touched by nobody else.
#include <gtest/gtest.h>

#include <memory>

#include "checker/checker.hpp"
#include "checker/checker_policy.hpp"
#include "checker/verdict.hpp"
#include "sync/intent.hpp"
#include "sync/region_table.hpp"

namespace photon::checker {
namespace {

using Entry = sync::RegionEntry<CheckerPolicy>;
using Intent = sync::Intent<CheckerPolicy>;
constexpr std::uint64_t kSlot = 0;
constexpr std::uint64_t kKey = 1 << 8;

struct Rules {
  bool has_fence = true;     // before the owner looks at the intent
  bool looks = true;         // at the intent
  bool counts_alike = true;  // the source knows that the buffer is complete
};

// A buffer that one message completes; the source has two.
Scenario granting(Rules rules) {
  struct State {
    Entry entry;
    Intent intent;
    CheckerPolicy::Atomic<std::uint64_t> ring;  // offers that were said
    CheckerPolicy::Cell<std::uint64_t> memory;
  };
  return [=](Stage& stage) {
    stage.group("state");
    auto state = std::make_shared<State>();
    state->entry.publish(kKey, {1000, 100, 1, false});
    stage.thread("source", [=] {
      sync::RegionView view;
      for (std::uint64_t message = 1; message <= 2; ++message) {
        if (message == 2 && rules.counts_alike) return;  // it is used up
        state->intent.enter(kSlot, false);
        const bool is_live = state->entry.read(kKey, view);
        if (is_live) state->memory.set(message);
        state->intent.leave();
        if (is_live) state->ring.store(message, std::memory_order_release);
      }
    });
    stage.thread("owner", [=] {
      // It looks once: before the offer was said, or behind that.
      if (state->ring.load(std::memory_order_acquire) != 0) {
        expect(state->memory.get() == 1, "what was said lies there");
        state->entry.revoke();  // nobody is waited for: the buffer is complete
      } else {
        state->entry.revoke();
        if (rules.has_fence) CheckerPolicy::heavy_barrier();
        if (rules.looks) wait_until([&] { return !state->intent.names(kSlot); });
      }
      state->memory.set(99);  // its user's
    });
    stage.finally([=] { expect(state->memory.get() == 99, "the user's bytes stay"); });
  };
}

TEST(GrantChecked, a_buffer_that_came_back_is_touched_by_nobody_else) {
  for (const bool stale : {false, true})
    expect_proved(explore({.stale_loads = stale}, granting({})));
}

TEST(GrantChecked, every_rule_is_needed) {
  expect_found(explore({}, granting({.has_fence = false})), "data race");
  expect_found(explore({}, granting({.looks = false})), "data race");
  expect_found(explore({}, granting({.counts_alike = false})), "data race");
  expect_found(explore({.weaken = {.release = true}}, granting({})), "data race");
  expect_found(explore({.weaken = {.acquire = true}}, granting({})), "data race");
}

}  // namespace
}  // namespace photon::checker
