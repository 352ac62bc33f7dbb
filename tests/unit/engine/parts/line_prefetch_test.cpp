#include "engine/parts/line_prefetch.hpp"

#include <gtest/gtest.h>

namespace photon::engine {
namespace {

constexpr std::uint64_t kMany = 1000;

// Lines claimed by a sender that writes `count` lines and meets a record after each `answered`
// (0: never); `free_count` lines are free at any time.
std::uint64_t claimed(std::uint64_t count, std::uint64_t answered, std::uint64_t free_count) {
  LinePrefetch claim;
  std::uint64_t sum = 0, until = 0;
  for (std::uint64_t tail = 0; tail < count; ++tail) {
    if (answered != 0 && tail % answered == 0) claim.met(tail);
    if (!claim.is_due(tail)) continue;
    if (!claim.take(tail, free_count)) continue;
    EXPECT_LE(LinePrefetch::kLines, free_count);
    EXPECT_GE(tail, until) << "claimed twice";
    until = tail + LinePrefetch::kLines;
    sum += LinePrefetch::kLines;
  }
  return sum;
}

TEST(LinePrefetch, an_exchange_claims_nothing) {
  for (const std::uint64_t lines : {1, 2, 5}) EXPECT_EQ(claimed(kMany, lines, kMany), 0u) << lines;
}

TEST(LinePrefetch, a_stream_claims_each_line_once_but_the_first_ones) {
  const std::uint64_t lines = claimed(kMany, 0, kMany);
  EXPECT_GE(lines, kMany - LinePrefetch::kLines);
  EXPECT_LE(lines, kMany);
  EXPECT_GT(claimed(kMany, 64, kMany), kMany * 3 / 4);
}

TEST(LinePrefetch, what_is_not_free_is_left_alone) {
  EXPECT_EQ(claimed(kMany, 0, LinePrefetch::kLines - 1), 0u);
  EXPECT_GT(claimed(kMany, 0, LinePrefetch::kLines), 0u);
}

}  // namespace
}  // namespace photon::engine
