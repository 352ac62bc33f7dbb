// Memory that peers have mapped (sync/hold_table.hpp), freed by its owner: it is used again only
// when all who mapped it have let go.
#include "sync/hold_table.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>

#include "checker/checker.hpp"
#include "checker/checker_policy.hpp"
#include "checker/verdict.hpp"
#include "sync/intent.hpp"
#include "sync/region_table.hpp"

namespace photon::checker {
namespace {

using Entry = sync::RegionEntry<CheckerPolicy>;
using Intent = sync::Intent<CheckerPolicy>;
using Holds = sync::HoldTable<CheckerPolicy, 2>;
constexpr std::uint64_t kSlot = 0;
constexpr std::uint64_t kKey = 1 << 8;
constexpr std::uint64_t kOwners = 99;

struct Steps {
  unsigned mappers = 1;
  bool fenced = false;
  bool under_intent = true;  // hold() stands between enter() and leave()
  bool looks_again = true;   // at the key, after entering
  bool waits = true;         // the owner, for intents, before it looks at the holds
};

// Each mapper maps, writes and lets go; the owner frees, and uses the memory when it finds that
// nobody holds it.
Scenario freeing(Steps steps) {
  struct State {
    Entry entry;
    std::array<Intent, 2> intents;
    std::array<CheckerPolicy::Cell<std::uint64_t>, 2> memory;
    bool is_reused = false;  // the owner's
  };
  return [=](Stage& stage) {
    stage.group("state");
    auto state = std::make_shared<State>();
    stage.group("holds");
    auto held = std::make_shared<std::array<Holds, 2>>();
    state->entry.publish(kKey, {1000, 100, 3});
    stage.thread("owner", [=] {
      state->entry.revoke();
      if (steps.fenced)
        CheckerPolicy::full_fence();
      else
        CheckerPolicy::heavy_barrier();
      for (unsigned i = 0; i < steps.mappers && steps.waits; ++i)
        wait_until([&] { return !state->intents[i].names(kSlot); });
      for (unsigned i = 0; i < steps.mappers; ++i)
        if ((*held)[i].names(kSlot)) return;  // it waits in limbo
      state->is_reused = true;
      for (unsigned i = 0; i < steps.mappers; ++i) state->memory[i].set(kOwners);
    });
    for (unsigned i = 0; i < steps.mappers; ++i)
      stage.thread("mapper " + std::to_string(i), [=] {
        sync::RegionView view;
        state->intents[i].enter(kSlot, steps.fenced);
        const bool is_live = !steps.looks_again || state->entry.read(kKey, view);
        if (is_live && steps.under_intent) (*held)[i].hold(0, kSlot);
        state->intents[i].leave();
        if (!is_live) return;
        if (!steps.under_intent) (*held)[i].hold(0, kSlot);
        state->memory[i].set(1);
        (*held)[i].let_go(0);
      });
    stage.finally([=] {
      for (unsigned i = 0; i < steps.mappers && state->is_reused; ++i)
        expect(state->memory[i].get() == kOwners, "the owner's bytes stay");
    });
  };
}

TEST(HoldTableChecked, mapped_memory_is_used_again_only_when_all_have_let_go) {
  for (const bool stale : {false, true})
    for (const bool fenced : {false, true})
      expect_proved(explore({.stale_loads = stale}, freeing({.fenced = fenced})));
  expect_proved(explore({}, freeing({.mappers = 2})));
}

TEST(HoldTableChecked, every_step_is_needed) {
  expect_found(explore({}, freeing({.under_intent = false})), "data race");
  expect_found(explore({}, freeing({.looks_again = false})), "data race");
  expect_found(explore({}, freeing({.waits = false})), "data race");
}

TEST(HoldTableChecked, every_order_is_needed) {
  const Options no_release{.stale_loads = true, .weaken = {.release = true, .only = "holds"}};
  const Options no_acquire{.stale_loads = true, .weaken = {.acquire = true, .only = "holds"}};
  expect_found(explore(no_release, freeing({})), "data race");
  expect_found(explore(no_acquire, freeing({})), "data race");
}

}  // namespace
}  // namespace photon::checker
