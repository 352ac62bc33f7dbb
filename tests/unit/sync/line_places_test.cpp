// Where the lines of a ring stand (sync/line_ring.hpp).
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "sync/line_ring.hpp"

namespace photon::sync {
namespace {

constexpr std::uint64_t lines(unsigned log2) { return std::uint64_t{1} << log2; }

TEST(LinePlaces, in_a_row_are_the_positions_of_the_lap) {
  const LinePlaces places(LineOrder::in_a_row, 6);
  for (std::uint64_t i = 0; i < 3 * lines(6); ++i) EXPECT_EQ(places.of(i), i % 64);
  EXPECT_EQ(LinePlaces::size(LineOrder::in_a_row, 6), 64u);
}

TEST(LinePlaces, apart_each_position_of_a_lap_has_a_pair_of_lines_for_itself) {
  for (unsigned log2 = 1; log2 <= 16; ++log2) {
    const LinePlaces places(LineOrder::apart, log2);
    std::set<std::uint64_t> pairs;
    for (std::uint64_t i = 0; i < lines(log2); ++i) {
      EXPECT_LT(places.of(i), LinePlaces::size(LineOrder::apart, log2));
      EXPECT_EQ(places.of(i), places.of(i + 5 * lines(log2))) << "the same in each lap";
      pairs.insert(places.of(i) / 2);
    }
    EXPECT_EQ(pairs.size(), lines(log2)) << log2;
  }
}

// In slots, the shorter way round the ring.
std::uint64_t distance(const LinePlaces& places, std::uint64_t steps, unsigned log2) {
  const std::uint64_t ahead = places.of(steps) / 2;
  return std::min(ahead, lines(log2) - ahead);
}

TEST(LinePlaces, apart_slots_near_each_other_are_used_long_after_one_another) {
  for (unsigned log2 = 6; log2 <= 16; ++log2) {
    const LinePlaces places(LineOrder::apart, log2);
    for (std::uint64_t steps = 1; steps < std::min<std::uint64_t>(lines(log2) / 2, 3000); ++steps)
      EXPECT_GE(steps * distance(places, steps, log2), lines(log2) / 5) << log2 << ", " << steps;
  }
}

}  // namespace
}  // namespace photon::sync
