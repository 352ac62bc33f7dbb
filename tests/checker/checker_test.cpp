// The checker itself: what C++ and membarrier allow is found, what they forbid is not.
#include "checker/checker.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "checker/checker_policy.hpp"
#include "checker/verdict.hpp"

namespace photon::checker {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr auto kAcquire = std::memory_order_acquire;
constexpr auto kRelease = std::memory_order_release;
constexpr auto kAcqRel = std::memory_order_acq_rel;
using Word = CheckerPolicy::Atomic<std::uint64_t>;
using PlainWord = CheckerPolicy::Cell<std::uint64_t>;

// Two words written by one thread each, and what the threads read.
struct Litmus {
  Word x, y;
  std::uint64_t read[4] = {};
};

void message_passing(Stage& stage) {
  struct State {
    PlainWord data;
    Word flag;
  };
  auto state = std::make_shared<State>();
  stage.thread("producer", [=] {
    state->data.set(42);
    state->flag.store(1, kRelease);
  });
  stage.thread("consumer", [=] {
    wait_until([&] { return state->flag.load(kAcquire) == 1; });
    expect(state->data.get() == 42, "the consumer reads what was published");
  });
}

TEST(Checker, message_passing_is_proved_with_release_and_acquire) {
  expect_proved(explore({}, message_passing));
}

TEST(Checker, message_passing_without_release_is_a_race) {
  expect_found(explore({.weaken = {.release = true}}, message_passing), "data race");
}

TEST(Checker, message_passing_without_acquire_is_a_race) {
  expect_found(explore({.weaken = {.acquire = true}}, message_passing), "data race");
}

TEST(Checker, stale_data_is_read_where_races_are_not_looked_for) {
  const Options options{.detect_races = false, .weaken = {.release = true}};
  expect_found(explore(options, message_passing), "reads what was published");
  const Options stale{.detect_races = false, .stale_loads = true, .weaken = {.acquire = true}};
  expect_found(explore(stale, message_passing), "reads what was published");
  expect_proved(explore({.detect_races = false, .stale_loads = true}, message_passing));
}

// fences: what stands between the store and the load of each thread.
Scenario dekker(void (*first)(), void (*second)()) {
  return [=](Stage& stage) {
    auto state = std::make_shared<Litmus>();
    stage.thread("first", [=] {
      state->x.store(1, kRelease);
      first();
      state->read[0] = state->y.load(kAcquire);
    });
    stage.thread("second", [=] {
      state->y.store(1, kRelease);
      second();
      state->read[1] = state->x.load(kAcquire);
    });
    stage.finally(
        [=] { expect(state->read[0] + state->read[1] > 0, "one of the two sees the other"); });
  };
}

TEST(Checker, store_buffering_needs_a_fence_on_both_sides) {
  const auto none = CheckerPolicy::light_barrier;
  const auto fence = CheckerPolicy::full_fence;
  for (const bool stale : {false, true}) {
    const Options options{.stale_loads = stale};
    expect_found(explore(options, dekker(none, none)), "one of the two");
    expect_found(explore(options, dekker(fence, none)), "one of the two");
    expect_proved(explore(options, dekker(fence, fence)));
  }
}

TEST(Checker, store_buffering_is_mended_by_light_and_heavy_barrier) {
  const auto light = CheckerPolicy::light_barrier;
  const auto heavy = CheckerPolicy::heavy_barrier;
  for (const bool stale : {false, true}) {
    expect_proved(explore({.stale_loads = stale}, dekker(light, heavy)));
    expect_proved(explore({.stale_loads = stale}, dekker(heavy, heavy)));
    const Options own{.stale_loads = stale, .weaken = {.heavy_remote = true}};
    expect_found(explore(own, dekker(light, heavy)), "one of the two");
  }
}

TEST(Checker, sequentially_consistent_stores_need_no_fence) {
  const Scenario scenario = [](Stage& stage) {
    auto state = std::make_shared<Litmus>();
    stage.thread("first", [=] {
      state->x.store(1, std::memory_order_seq_cst);
      state->read[0] = state->y.load(std::memory_order_seq_cst);
    });
    stage.thread("second", [=] {
      state->y.store(1, std::memory_order_seq_cst);
      state->read[1] = state->x.load(std::memory_order_seq_cst);
    });
    stage.finally([=] { expect(state->read[0] + state->read[1] > 0, "one sees the other"); });
  };
  expect_proved(explore({}, scenario));
}

Scenario independent_readers(std::memory_order order) {
  return [=](Stage& stage) {
    auto state = std::make_shared<Litmus>();
    stage.thread("writes x", [=] { state->x.store(1, kRelease); });
    stage.thread("writes y", [=] { state->y.store(1, kRelease); });
    stage.thread("x then y", [=] {
      state->read[0] = state->x.load(order);
      state->read[1] = state->y.load(order);
    });
    stage.thread("y then x", [=] {
      state->read[2] = state->y.load(order);
      state->read[3] = state->x.load(order);
    });
    stage.finally([=] {
      const auto& r = state->read;
      expect(!(r[0] == 1 && r[1] == 0 && r[2] == 1 && r[3] == 0), "one order of the writes");
    });
  };
}

TEST(Checker, independent_readers_agree_on_the_order_of_writes) {
  expect_proved(explore({}, independent_readers(kAcquire)));
  expect_proved(explore({.stale_loads = true}, independent_readers(std::memory_order_seq_cst)));
}

TEST(Checker, stale_loads_let_independent_readers_disagree_as_cxx_does) {
  expect_found(explore({.stale_loads = true}, independent_readers(kAcquire)), "one order");
}

TEST(Checker, reads_of_one_location_never_go_back) {
  const Scenario scenario = [](Stage& stage) {
    auto state = std::make_shared<Litmus>();
    stage.thread("writer", [=] {
      state->x.store(1, kRelaxed);
      state->x.store(2, kRelaxed);
    });
    stage.thread("reader", [=] {
      const auto first = state->x.load(kRelaxed);
      const auto second = state->x.load(kRelaxed);
      expect(first <= second, "reads in coherence order");
    });
    stage.finally([=] { expect(state->x.load(kRelaxed) == 2, "the last store stays"); });
  };
  expect_proved(explore({}, scenario));
  expect_proved(explore({.stale_loads = true}, scenario));
}

// Writes of two threads to two locations, drained crosswise: more than TSO.
TEST(Checker, relaxed_stores_to_different_locations_overtake_each_other) {
  const auto scenario = [](std::memory_order order) {
    return [=](Stage& stage) {
      auto state = std::make_shared<Litmus>();
      stage.thread("first", [=] {
        state->x.store(1, kRelaxed);
        state->y.store(2, order);
      });
      stage.thread("second", [=] {
        state->y.store(1, kRelaxed);
        state->x.store(2, order);
      });
      stage.finally([=] {
        expect(state->x.load(kRelaxed) != 1 || state->y.load(kRelaxed) != 1, "not both first");
      });
    };
  };
  expect_found(explore({}, scenario(kRelaxed)), "not both first");
  expect_proved(explore({}, scenario(kRelease)));
}

TEST(Checker, a_thread_sees_its_own_buffered_stores) {
  expect_proved(explore({}, [](Stage& stage) {
    auto state = std::make_shared<Litmus>();
    stage.thread("writer", [=] {
      state->x.store(7, kRelaxed);
      expect(state->x.load(kRelaxed) == 7, "own store");
    });
    stage.thread("reader", [=] { state->read[0] = state->x.load(kRelaxed); });
  }));
}

// A lock from one word; `take` decides how.
Scenario locked_counter(bool (*take)(Word&)) {
  return [=](Stage& stage) {
    struct State {
      Word lock;
      PlainWord counter;
    };
    auto state = std::make_shared<State>();
    for (const char* name : {"one", "two", "three"})
      stage.thread(name, [=] {
        while (!take(state->lock)) CheckerPolicy::relax();
        state->counter.set(state->counter.get() + 1);
        state->lock.store(0, kRelease);
      });
    stage.finally([=] { expect(state->counter.get() == 3, "no increment is lost"); });
  };
}
bool take_by_compare_exchange(Word& lock) {
  std::uint64_t free = 0;
  return lock.compare_exchange(free, 1, kAcquire, kRelaxed);
}
bool take_by_exchange(Word& lock) { return lock.exchange(1, kAcqRel) == 0; }
bool take_by_load_and_store(Word& lock) {
  if (lock.load(kAcquire) != 0) return false;
  lock.store(1, kRelaxed);
  return true;
}

TEST(Checker, a_spinlock_excludes) {
  expect_proved(explore({}, locked_counter(take_by_compare_exchange)));
  expect_proved(explore({}, locked_counter(take_by_exchange)));
}

TEST(Checker, a_lock_without_read_modify_write_is_found_broken) {
  expect_found(explore({}, locked_counter(take_by_load_and_store)), "data race");
}

TEST(Checker, a_counter_by_fetch_add_is_exact_and_wraps_at_its_width) {
  expect_proved(explore({}, [](Stage& stage) {
    auto counter = std::make_shared<CheckerPolicy::Atomic<std::uint8_t>>(std::uint8_t{254});
    for (const char* name : {"one", "two"})
      stage.thread(name, [=] {
        counter->fetch_add(1, kRelaxed);
        counter->fetch_add(1, kRelaxed);
      });
    stage.finally([=] { expect(counter->load(kRelaxed) == 2, "four were added"); });
  }));
}

// The sleeper announces itself, looks once more and sleeps; the waker publishes, then looks.
Scenario sleep_protocol(void (*sleeper_barrier)(), void (*waker_barrier)()) {
  return [=](Stage& stage) {
    struct State {
      Word asleep, queue;
      EventFd event;
    };
    auto state = std::make_shared<State>();
    stage.thread("sleeper", [=] {
      state->asleep.store(1, kRelaxed);
      sleeper_barrier();
      if (state->queue.load(kAcquire) == 0) state->event.read();
    });
    stage.thread("waker", [=] {
      state->queue.store(1, kRelease);
      waker_barrier();
      if (state->asleep.load(kRelaxed) != 0) state->event.write();
    });
  };
}

TEST(Checker, a_naive_sleep_protocol_loses_a_wake_up) {
  const auto light = CheckerPolicy::light_barrier;
  const auto fence = CheckerPolicy::full_fence;
  expect_found(explore({}, sleep_protocol(light, light)), "deadlock");
  expect_found(explore({}, sleep_protocol(fence, light)), "deadlock");
  expect_found(explore({}, sleep_protocol(light, fence)), "deadlock");
}

TEST(Checker, a_sleep_protocol_with_heavy_barrier_or_two_fences_loses_none) {
  const auto light = CheckerPolicy::light_barrier;
  const auto heavy = CheckerPolicy::heavy_barrier;
  const auto fence = CheckerPolicy::full_fence;
  for (const bool stale : {false, true}) {
    expect_proved(explore({.stale_loads = stale}, sleep_protocol(heavy, light)));
    expect_proved(explore({.stale_loads = stale}, sleep_protocol(fence, fence)));
  }
}

TEST(Checker, a_wait_for_what_never_comes_is_a_deadlock) {
  expect_found(explore({},
                       [](Stage& stage) {
                         auto state = std::make_shared<Litmus>();
                         stage.thread("waits", [=] {
                           wait_until([&] { return state->x.load(kAcquire) == 2; });
                         });
                         stage.thread("writes", [=] { state->x.store(1, kRelease); });
                       }),
               "deadlock: nothing can wake waits");
}

// Two turns, then it gives up: only idle_spins shows what happens then.
TEST(Checker, a_bounded_spin_needs_idle_spins) {
  const Scenario scenario = [](Stage& stage) {
    auto state = std::make_shared<Litmus>();
    stage.thread("spins", [=] {
      for (int turn = 0; turn < 2; ++turn) {
        if (state->x.load(kAcquire) == 1) return;
        CheckerPolicy::relax();
      }
      expect(false, "gave up");
    });
    stage.thread("writes", [=] { state->x.store(1, kRelease); });
  };
  expect_proved(explore({}, scenario));
  expect_found(explore({.idle_spins = 2}, scenario), "gave up");
}

TEST(Checker, bounds_make_the_result_incomplete) {
  EXPECT_FALSE(explore({.max_steps = 3}, message_passing).complete);
  EXPECT_FALSE(explore({.max_states = 3}, message_passing).complete);
  const Result bounded = explore({.max_preemptions = 1}, message_passing);
  EXPECT_TRUE(bounded.ok);
  EXPECT_FALSE(bounded.complete);
}

TEST(Checker, explores_the_same_states_every_time) {
  const Result first = explore({}, locked_counter(take_by_exchange));
  const Result again = explore({}, locked_counter(take_by_exchange));
  EXPECT_EQ(first.states, again.states);
  EXPECT_EQ(first.transitions, again.transitions);
  EXPECT_LT(first.states, 2000u);
}

TEST(Checker, a_trace_names_threads_locations_and_drains) {
  const Result result = explore({}, [](Stage& stage) {
    stage.group("word");
    auto state = std::make_shared<Litmus>();
    stage.thread("writer", [=] { state->y.store(5, kRelease); });
    stage.thread("reader", [=] { expect(state->y.load(kAcquire) == 0, "nothing is written"); });
  });
  expect_found(result, "writer: store word.1 5 release");
  expect_found(result, "buffered store word.1 = 5 becomes visible");
  expect_found(result, "reader: load word.1 acquire found 5");
}

}  // namespace
}  // namespace photon::checker
