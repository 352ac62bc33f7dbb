// The inbox of a PE (sync/mpsc_queue.hpp): what is pushed is taken once, in the order of each
// pusher, and no wake-up is lost between the last look and the sleep.
#include "sync/mpsc_queue.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>

#include "checker/checker.hpp"
#include "checker/checker_policy.hpp"
#include "checker/verdict.hpp"

namespace photon::checker {
namespace {

constexpr std::uint64_t kFirst = 2;  // the lowest name
constexpr unsigned kMost = 9;
constexpr unsigned kEach = 3;  // names of a pusher

// Things: a link and a word each.
struct Things {
  std::array<CheckerPolicy::Cell<std::uint64_t>, kMost> links;
  std::array<CheckerPolicy::Cell<std::uint64_t>, kMost> words;
};
struct Links {
  Things* things;
  void set(std::uint64_t name, std::uint64_t link) { things->links[name - kFirst].set(link); }
  std::uint64_t get(std::uint64_t name) { return things->links[name - kFirst].get(); }
};
using Queue = sync::MpscQueue<CheckerPolicy, Links>;

struct Pe {
  Things things;
  Queue queue{Links{&things}};
  EventFd event;
};

struct Way {
  unsigned pushers = 2;
  unsigned each = 1;
  unsigned last_each = 0;  // of the last pusher; 0: as the others
  bool in_chains = false;
  bool wakes = true;
  bool sleeps = true;  // else the owner looks again and again
};

unsigned count_of(const Way& way, unsigned pusher) {
  return way.last_each != 0 && pusher + 1 == way.pushers ? way.last_each : way.each;
}

void push_all(Pe& pe, const Way& way, unsigned pusher) {
  const std::uint64_t first = kFirst + std::uint64_t{pusher} * kEach;
  const unsigned each = count_of(way, pusher);
  const auto pushed = [&](bool was_asleep) {
    if (was_asleep && way.wakes) pe.event.write();
  };
  for (unsigned i = 0; i < each; ++i) {
    pe.things.words[first + i - kFirst].set(first + i);
    if (!way.in_chains) pushed(pe.queue.push(first + i));
    if (way.in_chains && i != 0) pe.things.links[first + i - kFirst].set(first + i - 1);
  }
  if (way.in_chains) pushed(pe.queue.push_chain(first + each - 1, first));
}

// Takes until all have come, and sleeps where nothing has.
void take_all(Pe& pe, const Way& way) {
  unsigned left = 0;
  for (unsigned i = 0; i < way.pushers; ++i) left += count_of(way, i);
  std::array<std::uint64_t, 3> next{};
  while (left != 0) {
    std::uint64_t name = pe.queue.turned(pe.queue.take());
    if (name == Queue::kNone && way.sleeps && pe.queue.try_sleep()) {
      pe.event.read();
      pe.queue.rise();
    }
    if (name == Queue::kNone && !way.sleeps) wait_until([&] { return !pe.queue.is_empty(); });
    for (; name != Queue::kNone; name = Links{&pe.things}.get(name)) {
      const auto pusher = (name - kFirst) / kEach;
      expect(pe.things.words[name - kFirst].get() == name, "what was written before it was pushed");
      expect((name - kFirst) % kEach == next[pusher]++, "in the order of its pusher, once");
      --left;
    }
  }
}

Scenario pushing(const Way& way) {
  return [way](Stage& stage) {
    stage.group("pe");
    auto pe = std::make_shared<Pe>();
    stage.thread("owner", [=] { take_all(*pe, way); });
    for (unsigned i = 0; i < way.pushers; ++i)
      stage.thread("pusher " + std::to_string(i), [=] { push_all(*pe, way, i); });
  };
}

TEST(TaskInbox, WakeNotLost) {
  for (const Way& way : {Way{.pushers = 1, .each = 1}, Way{.pushers = 1, .each = 3}, Way{}}) {
    expect_proved(explore({}, pushing(way)));
    expect_proved(explore({.stale_loads = true}, pushing(way)));
  }
}

TEST(TaskInbox, AnotherPusherBetweenTwoPushesChangesNoOrder) {
  expect_proved(explore({}, pushing({.pushers = 2, .each = 2, .last_each = 1, .sleeps = false})));
}

TEST(TaskInbox, OfThreePushersNoneIsLost) {
  expect_proved(explore({}, pushing({.pushers = 3, .each = 1, .sleeps = false})));
}

TEST(TaskInbox, ChainsArePushedWhole) {
  expect_proved(explore({}, pushing({.pushers = 2, .each = 2, .in_chains = true})));
  expect_proved(
      explore({.stale_loads = true}, pushing({.pushers = 1, .each = 3, .in_chains = true})));
}

TEST(TaskInbox, WithoutTheWakeUpItsOwnerSleepsForEver) {
  expect_found(explore({}, pushing({.pushers = 1, .wakes = false})),
               "deadlock: nothing can wake owner");
}

TEST(TaskInbox, BothOrdersAreNeeded) {
  expect_found(explore({.weaken = {.release = true}}, pushing({})), "data race");
  expect_found(explore({.weaken = {.acquire = true}}, pushing({})), "data race");
}

}  // namespace
}  // namespace photon::checker
