#include "engine/parts/line_claim.hpp"

#include <gtest/gtest.h>

namespace photon::engine {
namespace {

constexpr std::uint64_t kMany = 1000;

// Lines claimed by a sender that writes `count` lines and meets a record after each `answered`
// (0: never); `free_count` lines are free at any time.
std::uint64_t claimed(std::uint64_t count, std::uint64_t answered, std::uint64_t free_count) {
  LineClaim claim;
  std::uint64_t sum = 0, until = 0;
  for (std::uint64_t tail = 0; tail < count; ++tail) {
    if (answered != 0 && tail % answered == 0) claim.met(tail);
    if (!claim.is_due(tail)) continue;
    if (!claim.take(tail, free_count)) continue;
    EXPECT_LE(LineClaim::kLines, free_count);
    EXPECT_GE(tail, until) << "claimed twice";
    until = tail + LineClaim::kLines;
    sum += LineClaim::kLines;
  }
  return sum;
}

TEST(LineClaim, an_exchange_claims_nothing) {
  for (const std::uint64_t lines : {1, 2, 5}) EXPECT_EQ(claimed(kMany, lines, kMany), 0u) << lines;
}

TEST(LineClaim, a_stream_claims_each_line_once_but_the_first_ones) {
  const std::uint64_t lines = claimed(kMany, 0, kMany);
  EXPECT_GE(lines, kMany - LineClaim::kLines);
  EXPECT_LE(lines, kMany);
  EXPECT_GT(claimed(kMany, 64, kMany), kMany * 3 / 4);
}

TEST(LineClaim, what_is_not_free_is_left_alone) {
  EXPECT_EQ(claimed(kMany, 0, LineClaim::kLines - 1), 0u);
  EXPECT_GT(claimed(kMany, 0, LineClaim::kLines), 0u);
}

}  // namespace
}  // namespace photon::engine
