// How often a test repeats what it shows.
#pragma once

#include <cstdint>

namespace photon::test {

// All rounds, but under a sanitizer so many. A trade: a sanitizer judges each access that is made,
// and the thread sanitizer tells from locks and atomics that two accesses may meet, also where they
// did not. So each round teaches it less than the one before; but it knows only of what was run,
// and each round costs it two to ten times as much. What comes of all rounds, and how often
// something happens to be late, or in another order, is for the build without sanitizers to try.
constexpr std::uint64_t rounds(std::uint64_t all, std::uint64_t sanitized) {
  return PHOTON_SANITIZED ? sanitized : all;
}

// The same where nothing speaks for another number than a tenth.
constexpr std::uint64_t rounds(std::uint64_t all) { return rounds(all, (all + 9) / 10); }

}  // namespace photon::test
