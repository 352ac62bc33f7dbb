#include "engine/copy_choice.hpp"

#include <gtest/gtest.h>

namespace photon::engine {
namespace {

using Way = CopyChoice::Way;

constexpr std::uint64_t kSize = std::uint64_t{1} << 20;

// Puts of one size where each way takes its time; how many of the last `count` went by the kernel.
unsigned by_kernel(CopyChoice& choice, std::int64_t staged_ns, std::int64_t kernel_ns,
                   unsigned count = 640, std::uint64_t size_bytes = kSize) {
  unsigned by_kernel = 0;
  for (unsigned i = 0; i < 100 + count; ++i) {
    const Way way = choice.next(size_bytes);
    if (i >= 100 && way == Way::kernel) ++by_kernel;
    choice.took(way, size_bytes, way == Way::kernel ? kernel_ns : staged_ns);
  }
  return by_kernel;
}

TEST(CopyChoice, begins_with_both_sides_and_tries_the_kernel_soon) {
  CopyChoice choice;
  unsigned staged = 0;
  for (; choice.next(kSize) == Way::staged; ++staged) choice.took(Way::staged, kSize, 1000);
  EXPECT_GT(staged, 0u);
  EXPECT_LT(staged, 8u);
}

TEST(CopyChoice, takes_the_faster_way_and_tries_the_much_slower_one_seldom) {
  CopyChoice slow_kernel, fast_kernel;
  const unsigned tried = by_kernel(slow_kernel, 100'000, 200'000);
  EXPECT_GT(tried, 0u);
  EXPECT_LE(tried, 640u / 64);
  const unsigned used = by_kernel(fast_kernel, 200'000, 100'000);
  EXPECT_LT(used, 640u);
  EXPECT_GE(used, 640u - 640 / 64);
}

TEST(CopyChoice, tries_more_often_while_both_are_close) {
  CopyChoice choice;
  const unsigned tried = by_kernel(choice, 100'000, 110'000);
  EXPECT_GE(tried, 640u / 16 - 1);
  EXPECT_LE(tried, 640u / 16 + 1);
}

TEST(CopyChoice, follows_a_machine_that_changes) {
  CopyChoice choice;
  EXPECT_GT(by_kernel(choice, 200'000, 100'000), 600u);
  EXPECT_LT(by_kernel(choice, 100'000, 400'000), 64u);
  EXPECT_GT(by_kernel(choice, 400'000, 100'000, 1280), 1000u);
}

TEST(CopyChoice, is_not_misled_by_one_long_nap) {
  CopyChoice choice;
  EXPECT_GT(by_kernel(choice, 200'000, 50'000), 600u);
  choice.took(Way::kernel, kSize, 1'000'000'000);
  EXPECT_GT(by_kernel(choice, 200'000, 50'000), 500u);
}

TEST(CopyChoice, asks_no_kernel_again_that_refused) {
  CopyChoice choice;
  EXPECT_GT(by_kernel(choice, 200'000, 100'000), 600u);
  choice.refused();
  EXPECT_EQ(by_kernel(choice, 200'000, 100'000), 0u);
}

TEST(CopyChoice, learns_for_each_size_of_its_own_and_survives_a_clock_that_stood_still) {
  CopyChoice choice;
  EXPECT_GT(by_kernel(choice, 200'000, 100'000), 600u);
  EXPECT_LT(by_kernel(choice, 100'000, 200'000, 640, 8 * kSize), 64u);
  EXPECT_GT(by_kernel(choice, 200'000, 100'000), 600u);
  by_kernel(choice, 0, 0);
  by_kernel(choice, 0, 0, 640, ~std::uint64_t{0} >> 20);
}

}  // namespace
}  // namespace photon::engine
