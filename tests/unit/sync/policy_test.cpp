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
class Dekker {
 public:
  // `dear` is the barrier of the rare side; `between` runs on the frequent side, now and then.
  // How often both have missed the other's store.
  template <class Dear, class Between>
  std::uint64_t missed(Dear dear, Between between) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    std::thread other([&] { answer(between); });
    std::uint64_t both = 0;
    for (std::uint64_t round = 1; goes_on(round, until); ++round) {
      turn_.store(round, std::memory_order_release);
      heavy_.store(round, std::memory_order_relaxed);
      dear();
      const bool missed = light_.load(std::memory_order_relaxed) != round;
      while (answered_.load(std::memory_order_acquire) != round) HardwarePolicy::pause(1000);
      both += missed && light_saw_ != round;
    }
    turn_.store(kNoMore, std::memory_order_release);
    other.join();
    return both;
  }

 private:
  using Word = HardwarePolicy::Atomic<std::uint64_t>;
  // Fewer rounds beside other processes, where each change of turns costs a time slice; but so many
  // at least.
  static constexpr std::uint64_t kRounds = 20000, kNoMore = kRounds + 1, kLeast = 100;

  static bool goes_on(std::uint64_t round, std::chrono::steady_clock::time_point until) {
    return round <= kRounds && (round <= kLeast || std::chrono::steady_clock::now() < until);
  }
  template <class Between>
  void answer(Between between) {
    for (std::uint64_t round = 1; round <= kRounds; ++round) {
      if (round % 100 == 0) between();
      std::uint64_t now = 0;
      while ((now = turn_.load(std::memory_order_acquire)) < round) HardwarePolicy::pause(1000);
      if (now == kNoMore) return;
      light_.store(round, std::memory_order_relaxed);
      HardwarePolicy::light_barrier();
      light_saw_ = heavy_.load(std::memory_order_relaxed);
      answered_.store(round, std::memory_order_release);
    }
  }

  Word light_{0}, heavy_{0}, turn_{0}, answered_{0};
  std::uint64_t light_saw_ = 0;
};

TEST(Policy, a_heavy_barrier_makes_up_for_the_missing_fence_of_the_other_side) {
  if (!register_heavy_barrier()) GTEST_SKIP() << "this kernel has no membarrier";
  EXPECT_EQ(Dekker().missed(&HardwarePolicy::heavy_barrier, [] {}), 0u);
}

// Linux forgets that the core of a thread that has ended has to be reached (docs/sleeping.md).
TEST(Policy, so_does_a_process_barrier_where_threads_have_ended) {
  if (!register_heavy_barrier()) GTEST_SKIP() << "this kernel has no membarrier";
  const auto end_one = [] { std::thread([] {}).join(); };
  EXPECT_EQ(Dekker().missed(&HardwarePolicy::process_barrier, end_one), 0u);
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
