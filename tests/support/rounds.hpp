// How often a test repeats what it shows.
#pragma once

#include <cstdint>

namespace photon::test {

// All rounds, but under the thread sanitizer so many. A trade: it tells from locks and atomics that
// two accesses may meet, also where they did not, so each round teaches it less than the one
// before; but it knows only of what was run, and each round costs it ten times as much. How often
// something happens to be late, or in another order, is for the other builds to try.
constexpr std::uint64_t rounds(std::uint64_t all, std::uint64_t under_tsan) {
  return PHOTON_UNDER_TSAN ? under_tsan : all;
}

}  // namespace photon::test
