// The count of holders (sync/ref_count.hpp): only the last one takes the thing down, after all
// others, and nobody gets in later.
#include "sync/ref_count.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>

#include "checker/checker.hpp"
#include "checker/checker_policy.hpp"
#include "checker/verdict.hpp"

namespace photon::checker {
namespace {

// The starter holds one; others try to get in. Each holder uses its cell, the last one all.
void holders(Stage& stage) {
  struct State {
    sync::RefCount<CheckerPolicy> count;
    std::array<CheckerPolicy::Cell<std::uint64_t>, 3> used;
    std::array<bool, 3> took_down{};
  };
  stage.group("count");
  auto state = std::make_shared<State>();
  constexpr std::array kNames{"starter", "second", "third"};
  for (unsigned i = 0; i < 3; ++i)
    stage.thread(kNames[i], [=] {
      if (i == 0)
        state->count.start(77);
      else if (!state->count.try_acquire())
        return;
      expect(state->count.address() == 77, "a holder knows the address");
      state->used[i].set(1);
      if (!state->count.release()) return;
      state->took_down[i] = true;
      for (auto& used : state->used) used.set(0);
    });
  stage.finally([=] {
    int times = 0;
    for (const bool took : state->took_down) times += took ? 1 : 0;
    expect(times == 1, "taken down once");
    for (auto& used : state->used) expect(used.get() == 0, "after everybody");
  });
}

TEST(RefCountChecked, the_last_holder_takes_down_after_all_others) {
  expect_proved(explore({}, holders));
  expect_proved(explore({.stale_loads = true}, holders));
}

TEST(RefCountChecked, every_order_is_needed) {
  expect_found(explore({.weaken = {.release = true}}, holders), "knows the address");
  expect_found(explore({.weaken = {.acquire = true}}, holders), "data race");
}

}  // namespace
}  // namespace photon::checker
