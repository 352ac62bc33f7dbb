// The machine behind the atomics policy.
#include "sync/policy.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace photon::sync {
namespace {

TEST(Policy, registering_for_heavy_barriers_is_idempotent) {
  const bool first = register_heavy_barrier();
  EXPECT_EQ(register_heavy_barrier(), first);
  if (!first) GTEST_SKIP() << "this kernel has no membarrier: everybody fences";
}

// Dekker's pattern with the cheap barrier on one side: never may both miss the other's store.
TEST(Policy, a_heavy_barrier_makes_up_for_the_missing_fence_of_the_other_side) {
  if (!register_heavy_barrier()) GTEST_SKIP() << "this kernel has no membarrier";
  using Word = HardwarePolicy::Atomic<std::uint64_t>;
  // Fewer rounds beside other processes, where each change of turns costs a time slice; but so many
  // at least.
  constexpr std::uint64_t kRounds = 20000, kNoMore = kRounds + 1, kLeast = 100;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  Word light{0}, heavy{0}, turn{0};
  std::uint64_t light_missed = 0, heavy_missed = 0, both = 0;
  std::uint64_t light_saw = 0;
  Word answered{0};
  std::thread other([&] {
    for (std::uint64_t round = 1; round <= kRounds; ++round) {
      std::uint64_t now = 0;
      while ((now = turn.load(std::memory_order_acquire)) < round) HardwarePolicy::pause(1000);
      if (now == kNoMore) return;
      light.store(round, std::memory_order_relaxed);
      HardwarePolicy::light_barrier();
      light_saw = heavy.load(std::memory_order_relaxed);
      answered.store(round, std::memory_order_release);
    }
  });
  const auto goes_on = [&](std::uint64_t round) {
    return round <= kRounds && (round <= kLeast || std::chrono::steady_clock::now() < until);
  };
  for (std::uint64_t round = 1; goes_on(round); ++round) {
    turn.store(round, std::memory_order_release);
    heavy.store(round, std::memory_order_relaxed);
    HardwarePolicy::heavy_barrier();
    const bool missed = light.load(std::memory_order_relaxed) != round;
    while (answered.load(std::memory_order_acquire) != round) HardwarePolicy::pause(1000);
    const bool other_missed = light_saw != round;
    heavy_missed += missed;
    light_missed += other_missed;
    both += missed && other_missed;
  }
  turn.store(kNoMore, std::memory_order_release);
  other.join();
  EXPECT_EQ(both, 0u) << "missed by one side: " << heavy_missed << ", " << light_missed;
}

TEST(Policy, exchange_and_compare_exchange_return_what_was_there) {
  HardwarePolicy::Atomic<std::uint64_t> word{5};
  EXPECT_EQ(word.exchange(6, std::memory_order_acq_rel), 5u);
  std::uint64_t expected = 5;
  EXPECT_FALSE(
      word.compare_exchange(expected, 9, std::memory_order_acq_rel, std::memory_order_relaxed));
  EXPECT_EQ(expected, 6u);
  EXPECT_TRUE(
      word.compare_exchange(expected, 9, std::memory_order_acq_rel, std::memory_order_relaxed));
  EXPECT_EQ(word.fetch_add(1, std::memory_order_relaxed), 9u);
  EXPECT_EQ(word.load(std::memory_order_relaxed), 10u);
}

}  // namespace
}  // namespace photon::sync
