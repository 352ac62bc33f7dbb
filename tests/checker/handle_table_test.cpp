// What belongs to a handle (sync/handle_table.hpp), while a place is given to another handle.
#include "sync/handle_table.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "checker/checker.hpp"
#include "checker/checker_policy.hpp"
#include "checker/verdict.hpp"

namespace photon::checker {
namespace {

using Table = sync::HandleTable<CheckerPolicy, std::uint64_t, 4>;
constexpr std::uint64_t kOldThing = 1;
constexpr std::uint64_t kMadeThing = 2;
constexpr std::uint64_t kOld = 1;
constexpr std::uint64_t kBehind = 4;  // the searches of both begin at the place of the old one
constexpr std::uint64_t kNew = 9;

// The old handle's place is given to the new one, while somebody looks for a handle. A place that
// the search for another one needs is not free in between.
Scenario giving(std::uint64_t looked_for, bool is_needed) {
  struct State {
    Table table;
    CheckerPolicy::Cell<std::uint64_t> made;  // what kMadeThing is
  };
  return [=](Stage& stage) {
    stage.group("state");
    auto state = std::make_shared<State>();
    state->table.set(kOld, kOldThing);
    if (is_needed) state->table.set(kBehind, kOldThing);
    state->table.erase(kOld);
    stage.thread("maker", [=] {
      state->made.set(7);
      expect(state->table.set(kNew, kMadeThing), "there is room");
    });
    stage.thread("looker", [=] {
      const std::uint64_t found = state->table.find(looked_for);
      if (found == 0) return;
      expect(looked_for == kNew, "what was erased is not found");
      expect(found == kMadeThing && state->made.get() == 7, "what stands behind it is seen");
    });
    stage.finally([=] {
      expect(state->table.find(kNew) == kMadeThing, "the new one is found");
      expect(state->table.find(kOld) == 0, "the old one is not");
    });
  };
}

TEST(HandleTableChecked, a_place_that_is_given_away_shows_no_handle_another_ones_value) {
  for (const bool stale : {false, true})
    for (const bool is_needed : {false, true})
      for (const std::uint64_t key : {kOld, kNew})
        expect_proved(explore({.stale_loads = stale}, giving(key, is_needed)));
}

// A handle is erased while somebody looks for one whose search goes past its place.
TEST(HandleTableChecked, an_erasure_hides_no_other_handle) {
  struct State {
    Table table;
  };
  const auto scenario = [](Stage& stage) {
    stage.group("state");
    auto state = std::make_shared<State>();
    state->table.set(kOld, kOldThing);
    state->table.set(kBehind, kMadeThing);
    stage.thread("eraser", [=] { state->table.erase(kOld); });
    stage.thread("looker", [=] {
      expect(state->table.find(kBehind) == kMadeThing, "the other one is found");
    });
  };
  for (const bool stale : {false, true}) expect_proved(explore({.stale_loads = stale}, scenario));
}

TEST(HandleTable, has_room_for_ever_new_handles_of_which_few_live) {
  sync::HandleTable<sync::HardwarePolicy, const int*, 4> table;
  const int thing = 0;
  for (std::uint64_t key = 1; key < 1000; ++key) {
    ASSERT_TRUE(table.set(key, &thing));
    ASSERT_EQ(table.find(key), &thing);
    table.erase(key);
    ASSERT_EQ(table.find(key), nullptr);
  }
  for (std::uint64_t key = 2000; key < 2003; ++key) ASSERT_TRUE(table.set(key, &thing));
  EXPECT_FALSE(table.set(2003, &thing));
}

}  // namespace
}  // namespace photon::checker
