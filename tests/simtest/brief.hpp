// Sanitizers make simulated runs ten times as long. What they look for shows in a few of them; that
// runs repeat, and how often programs meet what, is told by builds without sanitizers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "simtest/case.hpp"

namespace photon::simtest {

inline constexpr bool kIsBrief = PHOTON_SIMTEST_IS_BRIEF;  // the build says it

// How many seeds of so many are run: a tenth, but at least three.
constexpr std::uint64_t seeds_of(std::uint64_t count) {
  return kIsBrief ? std::max<std::uint64_t>(3, count / 10) : count;
}

// The run keeps all promises, and gives the same history again.
inline Result run_and_repeat(const Case& one) {
  Result first = run_case(one, true);
  EXPECT_FALSE(first.finding) << "seed " << one.seed << ": " << first.finding->text;
  if (!kIsBrief) {
    EXPECT_EQ(first.digest, run_case(one, false).digest) << "seed " << one.seed;
  }
  return first;
}

}  // namespace photon::simtest
