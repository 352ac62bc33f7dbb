// References to a message (sync/share_count.hpp): the last holder gives it back, after all others,
// whether it finds itself alone or drops beside another one.
#include "sync/share_count.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>

#include "checker/checker.hpp"
#include "checker/checker_policy.hpp"
#include "checker/verdict.hpp"

namespace photon::checker {
namespace {

// The first holder takes one more for itself if `adds`. Each uses its cell before each drop, and
// the last one uses all.
Scenario holders(std::uint32_t count, bool adds) {
  struct State {
    sync::ShareCount<CheckerPolicy> shares;
    std::array<CheckerPolicy::Cell<std::uint64_t>, 3> used;
    std::array<unsigned, 3> gave_back{};
  };
  return [=](Stage& stage) {
    stage.group("count");
    auto state = std::make_shared<State>();
    state->shares.start(count);
    const auto drop = [state, count](unsigned i) {
      state->used[i].set(1);
      if (state->shares.drop() != sync::Drop::last) return;
      ++state->gave_back[i];
      for (unsigned k = 0; k < count; ++k) state->used[k].set(0);
    };
    for (unsigned i = 0; i < count; ++i)
      stage.thread("holder " + std::to_string(i), [=] {
        if (adds && i == 0) {
          state->shares.add();
          drop(i);
        }
        drop(i);
      });
    stage.finally([=] {
      unsigned times = 0;
      for (const unsigned gave_back : state->gave_back) times += gave_back;
      expect(times == 1, "given back once");
      for (auto& used : state->used) expect(used.get() == 0, "after everybody");
    });
  };
}

TEST(ShareCountChecked, the_last_holder_gives_back_after_all_others) {
  for (const std::uint32_t count : {2u, 3u})
    for (const bool adds : {false, true}) {
      expect_proved(explore({}, holders(count, adds)));
      expect_proved(explore({.stale_loads = true}, holders(count, adds)));
    }
}

TEST(ShareCountChecked, both_orders_are_needed) {
  expect_found(explore({.weaken = {.release = true}}, holders(2, false)), "data race");
  expect_found(explore({.weaken = {.acquire = true}}, holders(2, false)), "data race");
}

}  // namespace
}  // namespace photon::checker
