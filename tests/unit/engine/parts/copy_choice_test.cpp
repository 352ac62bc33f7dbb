#include "engine/parts/copy_choice.hpp"

#include <gtest/gtest.h>

namespace photon::engine {
namespace {

constexpr std::uint64_t kSize = std::uint64_t{1} << 20;

// Puts of one size where each way takes its time; how many of the last `count` went by the kernel.
unsigned by_kernel(CopyChoice& choice, std::int64_t staged_ns, std::int64_t kernel_ns,
                   unsigned count = 640, std::uint64_t size_bytes = kSize) {
  unsigned by_kernel = 0;
  for (unsigned i = 0; i < 100 + count; ++i) {
    const CopyChoice::Way way = choice.next(size_bytes);
    if (i >= 100 && way == CopyChoice::Way::kernel) ++by_kernel;
    choice.took(way, size_bytes, way == CopyChoice::Way::kernel ? kernel_ns : staged_ns);
  }
  return by_kernel;
}

TEST(CopyChoice, begins_with_both_sides_and_tries_the_kernel_soon) {
  CopyChoice choice;
  unsigned staged = 0;
  for (; choice.next(kSize) == CopyChoice::Way::staged; ++staged)
    choice.took(CopyChoice::Way::staged, kSize, 1000);
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
  choice.took(CopyChoice::Way::kernel, kSize, 1'000'000'000);
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

TEST(CopyChoice, tries_the_more_seldom_the_slower_a_way_is_and_never_gives_up) {
  CopyChoice choice;
  unsigned before = 6400;
  for (const unsigned slower_ns : {1100, 3100, 6100, 12'100}) {
    const unsigned tried = by_kernel(choice, 1000, slower_ns, 6400, 4096);
    EXPECT_LE(tried * (slower_ns - 1000), 6400u * 1000 / 20) << "more than a twentieth is lost";
    EXPECT_LT(tried, before);
    before = tried;
  }
  EXPECT_GT(by_kernel(choice, 1000, 100'000, 6400, 4096), 0u);
}

TEST(CopyChoice, learns_from_2_KiB_on_and_for_each_power_of_two) {
  CopyChoice choice;
  EXPECT_GT(by_kernel(choice, 2000, 1000, 640, 2048), 600u);
  EXPECT_LT(by_kernel(choice, 1000, 2000, 640, 4096), 64u);
  EXPECT_GT(by_kernel(choice, 2000, 1000, 640, 4095), 600u) << "4 KiB are another class";
}

TEST(CopyChoice, expects_what_it_has_seen_and_nothing_of_what_is_unknown) {
  CopyChoice choice;
  EXPECT_EQ(choice.expected_ns(CopyChoice::Way::kernel, kSize), 0);
  choice.took(CopyChoice::Way::kernel, kSize, 100'000);
  EXPECT_EQ(choice.expected_ns(CopyChoice::Way::staged, kSize), 0);
  EXPECT_NEAR(static_cast<double>(choice.expected_ns(CopyChoice::Way::kernel, kSize)), 100'000, 10);
  EXPECT_NEAR(static_cast<double>(choice.expected_ns(CopyChoice::Way::kernel, kSize * 3 / 2)),
              150'000, 10);
  EXPECT_EQ(choice.expected_ns(CopyChoice::Way::kernel, kSize * 2), 0) << "another class";
}

TEST(CopyChoice, times_every_try) {
  CopyChoice choice;
  by_kernel(choice, 1000, 2000);
  unsigned timed = 0;
  for (int i = 0; i < 640; ++i) {
    const bool is_try = choice.next(kSize) == CopyChoice::Way::kernel;
    EXPECT_TRUE(!is_try || choice.is_timed(kSize));
    timed += choice.is_timed(kSize) ? 1 : 0;
  }
  EXPECT_EQ(timed, 640u / 4);
}

TEST(CopyChoice, samples_each_try_of_the_ring_and_else_two_in_a_row_now_and_then) {
  CopyChoice slow, fast;
  by_kernel(slow, 200'000, 100'000);
  for (int i = 0; i < 640; ++i) {
    if (slow.next(kSize) == CopyChoice::Way::staged) {
      EXPECT_TRUE(slow.is_sampled(kSize));
    }
  }
  by_kernel(fast, 100'000, 200'000);
  unsigned sampled = 0, places = 0;  // of groups of 16
  for (unsigned i = 0; i < 640; ++i) {
    if (fast.next(kSize) != CopyChoice::Way::staged || !fast.is_sampled(kSize)) continue;
    ++sampled;
    places |= 1U << i % 16;
  }
  EXPECT_GE(sampled, 640u * 2 / 17 - 10);
  EXPECT_LE(sampled, 640u * 2 / 17 + 2);
  EXPECT_EQ(places, 0xffffu) << "a caller who posts groups never has one at their end";
}

}  // namespace
}  // namespace photon::engine
