#include "engine/parts/store_choice.hpp"

#include <gtest/gtest.h>

#include <random>

namespace photon::engine {
namespace {

constexpr std::uint64_t kSize = 64 << 10;

// A program that puts one size after the other, on a machine where each kind of store takes its
// time until the next put.
class Machine {
 public:
  explicit Machine(std::uint64_t plain, std::uint64_t streamed, std::uint64_t ring = 0)
      : choice(ring == 0 ? 2 : 3) {
    is_now(plain, streamed, ring);
  }

  void is_now(std::uint64_t plain, std::uint64_t streamed, std::uint64_t ring = 0) {
    time_[0] = plain;
    time_[1] = streamed;
    time_[2] = ring;
  }
  Way put(std::uint64_t size_bytes = kSize) {
    const Way way = choice.next(size_bytes, size_bytes, [this] { return now_; });
    now_ += time_[static_cast<std::size_t>(way)] * size_bytes / kSize + extra_;
    return way;
  }
  unsigned streamed_of(unsigned puts, std::uint64_t size_bytes = kSize) {
    unsigned count = 0;
    for (unsigned i = 0; i < puts; ++i) count += put(size_bytes) == Way::streamed ? 1 : 0;
    return count;
  }
  // Puts until `wanted` is used `in_a_row` times.
  unsigned puts_until(Way wanted, unsigned in_a_row = 8) {
    unsigned count = 0;
    for (unsigned run = 0; run < in_a_row && count < 10'000; ++count)
      run = put() == wanted ? run + 1 : 0;
    return count - in_a_row;
  }
  void poll_sleepers(std::uint64_t ticks) { now_ += ticks; }
  void compute(std::uint64_t ticks) { extra_ = ticks; }

  StoreChoice choice;

 private:
  std::uint64_t time_[3] = {};
  std::uint64_t extra_ = 0;
  std::uint64_t now_ = 1;
};

TEST(StoreChoice, begins_with_plain_stores_and_finds_streamed_ones_within_20_puts) {
  Machine machine(10'000, 5000);
  EXPECT_EQ(machine.put(), Way::plain);
  EXPECT_LE(machine.puts_until(Way::streamed), 20u);
  EXPECT_EQ(machine.choice.best(kSize), Way::streamed);
}

TEST(StoreChoice, keeps_the_faster_and_tries_the_other_the_seldomer_the_worse_it_is) {
  Machine close(10'000, 10'500), apart(10'000, 13'000), far(10'000, 100'000);
  for (Machine* machine : {&close, &apart, &far}) machine->streamed_of(50);
  const unsigned of_close = close.streamed_of(8192);
  const unsigned of_apart = apart.streamed_of(8192);
  const unsigned of_far = far.streamed_of(8192);
  EXPECT_GT(of_far, 0u);
  EXPECT_LE(of_far, 8192u / 1024 * 3 + 3);
  EXPECT_GT(of_apart, of_far);
  EXPECT_GT(of_close, of_apart);
  EXPECT_LE(of_close, 8192u / 64 * 4);
}

TEST(StoreChoice, follows_a_machine_that_moves_within_20_puts_once_it_is_stirred) {
  Machine machine(10'000, 50'000);
  machine.streamed_of(500);
  for (int i = 0; i < 20; ++i) {
    machine.is_now(50'000, 10'000);
    machine.choice.stir();
    EXPECT_LE(machine.puts_until(Way::streamed), 20u);
    machine.streamed_of(123 + static_cast<unsigned>(i));
    machine.is_now(10'000, 50'000);
    machine.choice.stir();
    EXPECT_LE(machine.puts_until(Way::plain), 20u);
    machine.streamed_of(77);
  }
}

TEST(StoreChoice, follows_in_the_end_if_nobody_says_that_the_machine_moved) {
  Machine machine(10'000, 50'000);
  machine.streamed_of(500);
  machine.is_now(50'000, 10'000);
  EXPECT_LE(machine.puts_until(Way::streamed), 1100u);
}

TEST(StoreChoice, is_not_misled_by_naps) {
  std::minstd_rand random(7);
  for (const bool is_streamed_better : {false, true}) {
    Machine machine(is_streamed_better ? 20'000 : 10'000, is_streamed_better ? 10'000 : 20'000);
    machine.streamed_of(50);
    unsigned streamed = 0;
    for (int i = 0; i < 20'000; ++i) {
      streamed += machine.put() == Way::streamed ? 1 : 0;
      if (random() % 50 == 0) machine.poll_sleepers(4'000'000);
    }
    const unsigned right = is_streamed_better ? streamed : 20'000 - streamed;
    EXPECT_GT(right, 18'000u);
  }
}

TEST(StoreChoice, tells_ways_apart_in_a_program_that_computes_in_between) {
  Machine machine(50'000, 10'000);
  machine.compute(100'000);
  EXPECT_LE(machine.puts_until(Way::streamed), 20u);
}

TEST(StoreChoice, finds_the_fastest_of_three_ways_and_follows_it) {
  Machine machine(10'000, 8000, 5000);
  EXPECT_LE(machine.puts_until(Way::ring), 20u);
  machine.streamed_of(300);
  for (int i = 0; i < 10; ++i) {
    machine.is_now(10'000, 3000, 5000);
    machine.choice.stir();
    EXPECT_LE(machine.puts_until(Way::streamed), 20u);
    machine.is_now(1000, 3000, 5000);
    machine.choice.stir();
    EXPECT_LE(machine.puts_until(Way::plain), 20u);
    machine.is_now(30'000, 40'000, 5000);
    machine.choice.stir();
    EXPECT_LE(machine.puts_until(Way::ring), 20u);
  }
}

TEST(StoreChoice, looks_at_each_size_by_itself) {
  Machine machine(10'000, 5000);
  machine.streamed_of(40, kSize);
  EXPECT_EQ(machine.choice.best(4096), Way::plain);
  machine.is_now(5000, 10'000);
  machine.streamed_of(40, 4096);
  EXPECT_EQ(machine.choice.best(4096), Way::plain);
  EXPECT_EQ(machine.choice.best(kSize), Way::streamed);
}

TEST(StoreChoice, does_not_wait_for_a_size_that_comes_no_more) {
  Machine machine(10'000, 5000);
  machine.streamed_of(6, 4096);  // in the middle of its look
  machine.streamed_of(60, kSize);
  EXPECT_EQ(machine.choice.best(kSize), Way::streamed);
}

TEST(StoreChoice, takes_sizes_in_turns) {
  Machine machine(10'000, 5000);
  for (int i = 0; i < 200; ++i) {
    machine.put(4096);
    machine.put(kSize);
    machine.put(std::uint64_t{1} << 40);
  }
  EXPECT_EQ(machine.choice.best(4096), Way::streamed);
  EXPECT_EQ(machine.choice.best(kSize), Way::streamed);
}

}  // namespace
}  // namespace photon::engine
