// The lane's biased lock (sync/bias_lock.hpp): mutual exclusion in every interleaving, shown by a
// cell that only the holder may touch; and broken when a barrier or an order is missing.
#include "sync/bias_lock.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "checker/checker.hpp"
#include "checker/checker_policy.hpp"
#include "checker/verdict.hpp"

namespace photon::checker {
namespace {

using Lock = sync::BiasLock<CheckerPolicy>;
constexpr Lock::Token kOwner = 16;  // the one that has the bias at first

struct Setting {
  std::vector<unsigned> turns;  // of each thread; thread i is token 16 * (i + 1)
  bool may_bias = true;
};

Scenario counting(Setting setting) {
  return [setting](Stage& stage) {
    struct State {
      explicit State(bool may_bias) : lock(may_bias, kOwner) {}
      Lock lock;
      CheckerPolicy::Cell<std::uint64_t> counter;
    };
    stage.group("lock");
    auto state = std::make_shared<State>(setting.may_bias);
    constexpr std::array kNames{"owner", "second", "third"};
    unsigned total = 0;
    for (unsigned i = 0; i < setting.turns.size(); ++i) {
      total += setting.turns[i];
      stage.thread(kNames[i], [=] {
        for (unsigned turn = 0; turn < setting.turns[i]; ++turn) {
          const Lock::Held held = state->lock.lock(kOwner * (i + 1));
          state->counter.set(state->counter.get() + 1);
          state->lock.unlock(held);
        }
      });
    }
    stage.finally([=] { expect(state->counter.get() == total, "no turn is lost"); });
  };
}

Options stale() { return {.stale_loads = true}; }

TEST(BiasLockChecked, the_owner_and_another_exclude_each_other) {
  expect_proved(explore({}, counting({{3, 2}})));
  expect_proved(explore({}, counting({{1, 4}})));
  expect_proved(explore(stale(), counting({{2, 2}})));
}

TEST(BiasLockChecked, three_threads_exclude_each_other) {
  expect_proved(explore({}, counting({{2, 1, 1}})));
  expect_proved(explore(stale(), counting({{1, 1, 1}})));
}

// How the second thread comes in; false: it did not. And what holds when all have left.
using Entry = std::function<bool(Lock&, Lock::Token, Lock::Held&)>;
using End = std::function<void(Lock&)>;

// Threads come and count as ever, but the second.
Scenario with_guest(std::vector<unsigned> turns, Entry enter, End end) {
  return [turns, enter, end](Stage& stage) {
    struct State {
      Lock lock{true, kOwner};
      CheckerPolicy::Cell<std::uint64_t> counter;
      CheckerPolicy::Cell<std::uint64_t> refused;  // the second thread's
    };
    stage.group("lock");
    auto state = std::make_shared<State>();
    constexpr std::array kNames{"owner", "guest", "third"};
    unsigned total = 0;
    for (unsigned i = 0; i < turns.size(); ++i) {
      total += turns[i];
      stage.thread(kNames[i], [=] {
        for (unsigned turn = 0; turn < turns[i]; ++turn) {
          const Lock::Token me = kOwner * (i + 1);
          Lock::Held held{};
          if (i != 1) {
            held = state->lock.lock(me);
          } else if (!enter(state->lock, me, held)) {
            state->refused.set(state->refused.get() + 1);
            continue;
          }
          state->counter.set(state->counter.get() + 1);
          state->lock.unlock(held);
        }
      });
    }
    stage.finally([=] {
      expect(state->counter.get() + state->refused.get() == total, "no turn is lost");
      end(state->lock);
    });
  };
}

bool visit(Lock& lock, Lock::Token me, Lock::Held& held) {
  held = lock.lock_visiting(me);
  return true;
}

// For one visit at a time.
Scenario visited(const std::vector<unsigned>& turns) {
  return with_guest(turns, visit, [](Lock&) {});
}

TEST(BiasLockChecked, a_visitor_and_the_owner_exclude_each_other) {
  expect_proved(explore({}, visited({3, 2})));
  expect_proved(explore(stale(), visited({2, 1})));
  expect_proved(explore(stale(), visited({1, 2})));
}

TEST(BiasLockChecked, a_visitor_and_a_third_thread_exclude_each_other) {
  expect_proved(explore({}, visited({1, 1, 1})));
  expect_proved(explore({}, visited({0, 2, 2})));
  expect_proved(explore(stale(), visited({1, 1, 1})));
}

TEST(BiasLockChecked, a_visit_leaves_the_bias_where_it_was) {
  expect_proved(explore({}, [](Stage& stage) {
    auto lock = std::make_shared<Lock>(true, kOwner);
    stage.thread("owner", [=] {
      lock->unlock(lock->lock_visiting(2 * kOwner));
      expect(lock->try_biased(kOwner), "still biased");
      lock->unlock_biased();
      lock->unlock(lock->lock_visiting(kOwner));
      expect(lock->try_biased(kOwner), "after a visit of its own, too");
    });
  }));
}

void expect_all_needed(const Scenario& scenario) {
  expect_found(explore({.weaken = {.heavy_barrier = true}}, scenario), "data race");
  for (const char* word : {"lock.0", "lock.1"}) {  // the owner put back, busy of the first grant
    const Options no_release{.weaken = {.release = true, .only = word}};
    expect_found(explore(no_release, scenario), "data race");
    const Options no_acquire{.weaken = {.acquire = true, .only = word}};
    expect_found(explore(no_acquire, scenario), "data race");
  }
}

TEST(BiasLockChecked, every_barrier_and_order_of_a_visit_is_needed) {
  expect_all_needed(visited({2, 1}));
}

// Callers who come again and again, and one visitor.
Scenario awaited(const std::vector<unsigned>& turns) {
  return [turns](Stage& stage) {
    struct State {
      Lock lock{false};
      CheckerPolicy::Cell<std::uint64_t> visits;
    };
    stage.group("lock");
    auto state = std::make_shared<State>();
    constexpr std::array kNames{"first", "second"};
    for (unsigned i = 0; i < turns.size(); ++i) {
      stage.thread(kNames[i], [=] {
        bool waits = false;
        for (unsigned turn = 0; turn < turns[i]; ++turn) {
          const Lock::Held held = state->lock.lock(kOwner * (i + 1));
          expect(!waits || state->visits.get() == 1, "the visitor was first");
          waits = waits || state->lock.has_waiting_visitor();
          state->lock.unlock(held);
        }
      });
    }
    stage.thread("visitor", [=] {
      const Lock::Held held = state->lock.lock_visiting(kOwner * 3);
      state->visits.set(1);
      state->lock.unlock(held);
    });
  };
}

TEST(BiasLockChecked, a_caller_who_has_seen_a_visitor_wait_comes_back_behind_it) {
  expect_proved(explore({}, awaited({3})));
  expect_proved(explore({}, awaited({2, 1})));
  expect_proved(explore(stale(), awaited({2})));
}

// Gives up where somebody is inside.
Scenario tried(const std::vector<unsigned>& turns) {
  return with_guest(
      turns,
      [](Lock& lock, Lock::Token me, Lock::Held& held) { return lock.try_visiting(me, held); },
      [is_alone = turns.size() == 2](Lock& lock) {
        if (is_alone) expect(lock.try_biased(kOwner), "still biased");
      });
}

TEST(BiasLockChecked, a_guest_who_gives_up_excludes_the_owner_and_leaves_him_the_bias) {
  expect_proved(explore({}, tried({3, 2})));
  expect_proved(explore(stale(), tried({2, 1})));
  expect_proved(explore(stale(), tried({1, 2})));
}

TEST(BiasLockChecked, a_guest_who_gives_up_and_a_third_thread_exclude_each_other) {
  expect_proved(explore({}, tried({1, 1, 1})));
  expect_proved(explore({}, tried({0, 2, 2})));
  expect_proved(explore(stale(), tried({1, 1, 1})));
}

TEST(BiasLockChecked, every_barrier_and_order_of_a_guest_is_needed) {
  expect_all_needed(tried({2, 1}));
}

// Ends the bias while its owner comes and goes.
Scenario ended(const std::vector<unsigned>& turns) {
  return with_guest(
      turns,
      [](Lock& lock, Lock::Token me, Lock::Held& held) {
        visit(lock, me, held);
        lock.end_bias();
        return true;
      },
      [](Lock& lock) { expect(!lock.try_biased(kOwner), "nobody is biased any more"); });
}

TEST(BiasLockChecked, who_ends_the_bias_excludes_its_owner_and_all_others) {
  expect_proved(explore({}, ended({3, 1})));
  expect_proved(explore({}, ended({1, 2})));
  expect_proved(explore({}, ended({1, 1, 1})));
  expect_proved(explore(stale(), ended({2, 1})));
  expect_found(explore({.weaken = {.heavy_barrier = true}}, ended({2, 1})), "data race");
}

TEST(BiasLockChecked, without_bias_it_is_a_spinlock) {
  expect_proved(explore({}, counting({{2, 2}, false})));
  expect_proved(explore({.weaken = {.heavy_barrier = true}}, counting({{2, 1, 1}, false})));
}

// The second thread comes alone often enough to be granted the bias, while the first may still act
// on the old one.
TEST(BiasLockChecked, the_bias_passes_to_the_thread_that_keeps_coming) {
  expect_proved(explore({}, counting({{1, 67}})));
}

TEST(BiasLockChecked, who_came_alone_for_sixty_five_turns_has_the_bias) {
  expect_proved(explore({}, [](Stage& stage) {
    auto lock = std::make_shared<Lock>(true, kOwner);
    stage.thread("second", [=] {
      for (int turn = 0; turn < 65; ++turn) {
        expect(!lock->try_biased(2 * kOwner), "not yet");
        lock->unlock(lock->lock(2 * kOwner));
      }
      expect(lock->try_biased(2 * kOwner), "biased");
    });
  }));
}

TEST(BiasLockChecked, every_barrier_and_order_is_needed) {
  const Scenario scenario = counting({{2, 1}});
  expect_found(explore({.weaken = {.heavy_barrier = true}}, scenario), "data race");
  expect_found(explore({.weaken = {.heavy_remote = true}}, scenario), "data race");
  for (const char* word : {"lock.1", "lock.10"}) {  // busy of the first grant, the mutex word
    const Options no_release{.weaken = {.release = true, .only = word}};
    expect_found(explore(no_release, scenario), "data race");
    const Options no_acquire{.weaken = {.acquire = true, .only = word}};
    expect_found(explore(no_acquire, scenario), "data race");
  }
}

// Not only unordered but wrong: without the barrier both are inside and a turn is lost.
TEST(BiasLockChecked, without_the_barrier_a_turn_is_lost) {
  const Options options{.detect_races = false, .weaken = {.heavy_remote = true}};
  expect_found(explore(options, counting({{1, 1}})), "no turn is lost");
}

}  // namespace
}  // namespace photon::checker
