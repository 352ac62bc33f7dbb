// The reductions of the model (model.hpp) against the model without them: random programs must
// have exactly the same outcomes.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "checker/checker.hpp"
#include "checker/checker_policy.hpp"

namespace photon::checker {
namespace {

constexpr unsigned kLocations = 2;
constexpr unsigned kUnread = kLocations;  // one more, which is stored to alone
using Word = CheckerPolicy::Atomic<std::uint64_t>;
using Outcome = std::vector<std::uint64_t>;
enum class Action : unsigned { load, store, exchange, compare_exchange, full_fence, heavy_barrier };

struct Instruction {
  Action action = Action::load;
  unsigned location = 0;
  std::uint64_t value = 0;
  bool ordered = false;  // acquire, release
};
using Listing = std::vector<std::vector<Instruction>>;

struct Machine {
  std::array<Word, kLocations> words;
  Word unread;
  std::array<std::vector<std::uint64_t>, kMaxThreads> read;
};

std::uint64_t execute(Machine& machine, const Instruction& i) {
  Word& word = i.location == kUnread ? machine.unread : machine.words[i.location];
  const auto acquire = i.ordered ? std::memory_order_acquire : std::memory_order_relaxed;
  const auto release = i.ordered ? std::memory_order_release : std::memory_order_relaxed;
  std::uint64_t expected = 0;
  switch (i.action) {
    case Action::load: return word.load(acquire);
    case Action::store: word.store(i.value, release); return 0;
    case Action::exchange:
      return word.exchange(i.value, i.ordered ? std::memory_order_acq_rel : acquire);
    case Action::compare_exchange:
      word.compare_exchange(expected, i.value, release, std::memory_order_relaxed);
      return expected;
    case Action::full_fence: CheckerPolicy::full_fence(); return 0;
    case Action::heavy_barrier: CheckerPolicy::heavy_barrier(); return 0;
  }
  return 0;
}

std::set<Outcome> outcomes(const Listing& listing, Options options) {
  std::set<Outcome> found;
  options.begins_again = [&found] { found.clear(); };
  const Result result = explore(options, [&](Stage& stage) {
    auto machine = std::make_shared<Machine>();
    for (std::size_t t = 0; t < listing.size(); ++t)
      stage.thread("t" + std::to_string(t), [machine, t, &listing] {
        for (const Instruction& i : listing[t]) {
          const std::uint64_t value = execute(*machine, i);
          machine->read[t].push_back(value);
        }
      });
    stage.finally([machine, &found] {
      Outcome outcome;
      for (const auto& thread : machine->read)
        outcome.insert(outcome.end(), thread.begin(), thread.end());
      for (const Word& word : machine->words)
        outcome.push_back(word.load(std::memory_order_relaxed));
      found.insert(outcome);
    });
  });
  EXPECT_TRUE(result.ok && result.complete) << result.trace;
  return found;
}

// `stores_unread`: some stores go to the location that nobody reads.
Listing random_listing(std::mt19937& random, unsigned threads, unsigned instructions,
                       bool stores_unread = false) {
  // Mostly loads and stores: what a fence orders is only seen around it.
  constexpr std::array kActions{Action::load,       Action::load,         Action::load,
                                Action::store,      Action::store,        Action::store,
                                Action::store,      Action::exchange,     Action::compare_exchange,
                                Action::full_fence, Action::heavy_barrier};
  Listing listing(threads);
  std::uint64_t value = 0;
  for (auto& thread : listing)
    for (unsigned i = 0; i < instructions; ++i)
      thread.push_back({kActions[random() % kActions.size()], unsigned(random() % kLocations),
                        ++value, random() % 2 == 0});
  if (!stores_unread) return listing;
  for (auto& thread : listing)
    for (Instruction& i : thread)
      if (i.action == Action::store && random() % 2 == 0) i.location = kUnread;
  return listing;
}

void compare(unsigned seeds, unsigned threads, unsigned instructions, bool stale_loads,
             bool stores_unread = false) {
  for (unsigned seed = 0; seed < seeds; ++seed) {
    std::mt19937 random(seed);
    const Listing listing = random_listing(random, threads, instructions, stores_unread);
    const auto reduced = outcomes(listing, {.stale_loads = stale_loads});
    const auto full = outcomes(listing, {.stale_loads = stale_loads, .reduce = false});
    ASSERT_EQ(reduced, full) << "seed " << seed << ", " << threads << " threads";
  }
}

TEST(CheckerReduction, keeps_every_outcome_of_two_threads) { compare(150, 2, 5, false); }
TEST(CheckerReduction, keeps_every_outcome_of_three_threads) { compare(50, 3, 3, false); }
TEST(CheckerReduction, keeps_every_outcome_with_stale_loads) {
  compare(60, 2, 4, true);
  compare(15, 3, 3, true);
}

TEST(CheckerReduction, keeps_every_outcome_beside_a_location_that_nobody_reads) {
  compare(100, 2, 5, false, true);
  compare(40, 3, 3, false, true);
  compare(40, 2, 4, true, true);
}

// It is read behind the stores: by one branch of a thread, which is found late, or at the end.
TEST(CheckerReduction, finds_a_reader_that_turns_up_late) {
  for (const bool at_end : {false, true}) {
    const Result result = explore({}, [at_end](Stage& stage) {
      auto word = std::make_shared<Word>();
      auto flag = std::make_shared<Word>();
      stage.thread("writer", [=] {
        word->store(7, std::memory_order_relaxed);
        flag->store(1, std::memory_order_release);
      });
      stage.thread("reader", [=] {
        if (at_end || flag->load(std::memory_order_acquire) == 0) return;
        expect(word->load(std::memory_order_relaxed) == 7, "it was stored before");
      });
      stage.finally([=] {
        if (at_end) expect(word->load(std::memory_order_relaxed) == 7, "it was stored");
      });
    });
    EXPECT_TRUE(result.ok && result.complete) << result.trace;
  }
}

// Every outcome without stale loads is one with them, too.
TEST(CheckerReduction, stale_loads_only_add_outcomes) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const Listing listing = random_listing(random, 2, 4);
    const auto more = outcomes(listing, {.stale_loads = true});
    for (const Outcome& outcome : outcomes(listing, {}))
      ASSERT_TRUE(more.contains(outcome)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace photon::checker
