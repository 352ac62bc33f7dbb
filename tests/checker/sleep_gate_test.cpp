// The sleep gate (sync/sleep_gate.hpp) with the record ring it guards: no wake-up is lost in any
// interleaving; without its fences one is.
#include "sync/sleep_gate.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>

#include "checker/checker.hpp"
#include "checker/checker_policy.hpp"
#include "checker/verdict.hpp"
#include "sync/line_ring.hpp"

namespace photon::checker {
namespace {

using Producer = sync::LineProducer<CheckerPolicy>;
using Consumer = sync::LineConsumer<CheckerPolicy>;
using Gate = sync::SleepGate<CheckerPolicy>;

struct Setting {
  unsigned senders = 1;
  std::uint64_t messages = 1;  // of each sender
  bool fenced = false;         // no heavy barrier to be had
  bool cold = false;           // rings are declared cold for the sleep, hot when they had news
};

struct Source {
  std::array<sync::RingLine<CheckerPolicy>, 2> lines;
  sync::CreditWords<CheckerPolicy> credits;
  sync::Doorbell<CheckerPolicy> doorbell;
  Producer producer{lines.data(), &credits, 1};
  Consumer consumer{lines.data(), &credits, 1};
};

struct Rank {
  std::array<Source, 2> sources;
  Gate gate;
  EventFd event;
};

// As the head of sleep_gate.hpp says: record, barrier, cold, doorbell, barrier, asleep, eventfd.
void send(Rank& rank, Source& source, const Setting& setting) {
  for (unsigned spins = 0; !source.producer.has_room(1); ++spins) CheckerPolicy::pause(spins);
  source.producer.line(0).words[0].set(source.producer.tail());
  source.producer.publish(0, 1);
  if (setting.cold) {
    Gate::barrier(setting.fenced);
    if (source.credits.cold.load(std::memory_order_relaxed) == 0) return;
    source.doorbell.ring(static_cast<std::uint8_t>(source.producer.tail()));
  }
  if (rank.gate.must_wake(setting.fenced)) rank.event.write();
}

bool receive(Source& source, const Setting& setting) {
  if (source.consumer.peek() != Consumer::State::record) return false;
  expect(source.consumer.line(0).words[0].get() == source.consumer.head(), "records in order");
  source.consumer.pop(1);
  source.consumer.publish_lines();
  if (setting.cold) source.credits.cold.store(0, std::memory_order_relaxed);
  return true;
}

void receive_all(Rank& rank, const Setting& setting) {
  std::uint64_t missing = setting.senders * setting.messages;
  const auto look = [&] {
    const std::uint64_t before = missing;
    for (unsigned i = 0; i < setting.senders; ++i)
      if (receive(rank.sources[i], setting)) --missing;
    return missing != before;
  };
  while (missing > 0) {
    if (look()) continue;
    if (setting.cold)
      for (unsigned i = 0; i < setting.senders; ++i)
        rank.sources[i].credits.cold.store(1, std::memory_order_relaxed);
    rank.gate.arm(setting.fenced);
    if (!look()) rank.event.read();
    rank.gate.disarm();
  }
}

Scenario sleeping(Setting setting) {
  return [setting](Stage& stage) {
    stage.group("rank");
    auto rank = std::make_shared<Rank>();
    stage.thread("sleeper", [=] { receive_all(*rank, setting); });
    for (unsigned i = 0; i < setting.senders; ++i)
      stage.thread("sender " + std::to_string(i), [=] {
        for (std::uint64_t m = 0; m < setting.messages; ++m) send(*rank, rank->sources[i], setting);
      });
  };
}

Options stale() { return {.stale_loads = true}; }

TEST(SleepGateChecked, heavy_barrier_in_the_sleeper_loses_no_wake_up) {
  expect_proved(explore({}, sleeping({.messages = 3})));
  expect_proved(explore(stale(), sleeping({.messages = 2})));
}

TEST(SleepGateChecked, fences_on_both_sides_lose_no_wake_up) {
  expect_proved(explore({}, sleeping({.messages = 3, .fenced = true})));
  expect_proved(explore(stale(), sleeping({.messages = 2, .fenced = true})));
}

TEST(SleepGateChecked, two_senders_lose_no_wake_up) {
  expect_proved(explore({}, sleeping({.senders = 2})));
  expect_proved(explore({}, sleeping({.senders = 2, .fenced = true})));
  expect_proved(explore(stale(), sleeping({.senders = 2})));
}

TEST(SleepGateChecked, rings_declared_cold_for_the_sleep_wake_it) {
  expect_proved(explore({}, sleeping({.messages = 2, .cold = true})));
  expect_proved(explore({}, sleeping({.messages = 2, .fenced = true, .cold = true})));
  expect_proved(explore({}, sleeping({.senders = 2, .cold = true})));
}

TEST(SleepGateChecked, every_fence_is_needed) {
  const Options no_barrier{.weaken = {.heavy_barrier = true}};
  expect_found(explore(no_barrier, sleeping({})), "deadlock: nothing can wake sleeper");
  const Options own_only{.weaken = {.heavy_remote = true}};
  expect_found(explore(own_only, sleeping({})), "deadlock: nothing can wake sleeper");
  const Options no_fence{.weaken = {.full_fence = true}};
  expect_found(explore(no_fence, sleeping({.fenced = true})), "deadlock: nothing can wake sleeper");
}

// A rank whose ring is full sleeps for credit; the awake receiver gives it back line by line, and
// looks at the word of its own ring to that rank, which holds nothing.
struct Credit {
  std::uint64_t messages = 3;  // the ring has two lines
  bool fenced = false;
  bool declares = true;  // the sleeper declares what it reads cold
};

Scenario sleeping_for_credit(Credit setting) {
  struct Pair {
    Source way;
    CheckerPolicy::Atomic<std::uint64_t> cold;  // of the ring the other way
    Gate gate;
    EventFd event;
  };
  return [=](Stage& stage) {
    stage.group("pair");
    auto pair = std::make_shared<Pair>();
    stage.thread("sleeper", [=] {
      Producer& producer = pair->way.producer;
      for (std::uint64_t message = 0; message < setting.messages; ++message) {
        while (!producer.has_room(1)) {
          if (setting.declares) pair->cold.store(1, std::memory_order_relaxed);
          pair->gate.arm(setting.fenced);
          if (!producer.has_room(1)) pair->event.read();
          pair->cold.store(0, std::memory_order_relaxed);
          pair->gate.disarm();
        }
        producer.line(0).words[0].set(producer.tail());
        producer.publish(0, 1);
      }
    });
    stage.thread("receiver", [=] {
      Consumer& consumer = pair->way.consumer;
      for (std::uint64_t message = 0; message < setting.messages; ++message) {
        for (unsigned spins = 0; consumer.peek() != Consumer::State::record; ++spins)
          CheckerPolicy::pause(spins);
        expect(consumer.line(0).words[0].get() == consumer.head(), "records in order");
        consumer.pop(1);
        consumer.publish_lines();
        Gate::barrier(setting.fenced);
        if (pair->cold.load(std::memory_order_relaxed) == 0) continue;
        if (pair->gate.must_wake(setting.fenced)) pair->event.write();
      }
    });
  };
}

TEST(SleepGateChecked, credit_wakes_who_sleeps_for_it) {
  for (const bool fenced : {false, true}) {
    expect_proved(explore({}, sleeping_for_credit({.messages = 4, .fenced = fenced})));
    expect_proved(explore(stale(), sleeping_for_credit({.fenced = fenced})));
  }
}

TEST(SleepGateChecked, credit_wakes_nobody_who_declares_no_ring_cold_or_issues_no_barrier) {
  constexpr const char* kLost = "deadlock: nothing can wake sleeper";
  expect_found(explore({}, sleeping_for_credit({.declares = false})), kLost);
  const Options no_barrier{.weaken = {.heavy_barrier = true}};
  expect_found(explore(no_barrier, sleeping_for_credit({})), kLost);
  const Options no_fence{.weaken = {.full_fence = true}};
  expect_found(explore(no_fence, sleeping_for_credit({.fenced = true})), kLost);
}

// A rank of two threads: one sleeps, the other polls once meanwhile and finds the first message. It
// must not declare the ring hot: the sender may not have looked yet, and would wake nobody. A
// message count stands for the ring, whose consumer's half the two threads would share.
Scenario polling_beside_a_sleeper(bool heats) {
  struct Shared {
    CheckerPolicy::Atomic<std::uint64_t> sent, cold;
    Gate gate;
    EventFd event;
  };
  return [=](Stage& stage) {
    auto rank = std::make_shared<Shared>();
    stage.thread("sleeper", [=] {
      std::uint64_t seen = 0;
      const auto look = [&] {
        const std::uint64_t before = seen;
        seen = rank->sent.load(std::memory_order_acquire);
        return seen != before;
      };
      while (seen < 2) {
        if (look()) continue;
        rank->cold.store(1, std::memory_order_relaxed);
        rank->gate.arm(false);
        if (!look()) rank->event.read();
        rank->gate.disarm();
      }
    });
    stage.thread("poller", [=] {
      const bool found = rank->sent.load(std::memory_order_acquire) != 0;
      if (found && heats) rank->cold.store(0, std::memory_order_relaxed);
    });
    stage.thread("sender", [=] {
      for (std::uint64_t message = 1; message <= 2; ++message) {
        rank->sent.store(message, std::memory_order_release);
        Gate::barrier(false);
        if (rank->cold.load(std::memory_order_relaxed) == 0) continue;
        if (rank->gate.must_wake(false)) rank->event.write();
      }
    });
  };
}

TEST(SleepGateChecked, rings_stay_cold_while_a_thread_of_the_rank_sleeps) {
  expect_proved(explore({}, polling_beside_a_sleeper(false)));
  expect_found(explore({}, polling_beside_a_sleeper(true)), "deadlock: nothing can wake sleeper");
}

}  // namespace
}  // namespace photon::checker
