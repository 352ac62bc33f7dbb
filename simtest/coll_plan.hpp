// Which cases are proved: all of them, or a drawn part. And what `choose` answers is asked.
//
// All: teams of 1 to 130 members with every root; beyond them 2^k, 2^k +- 1 and primes to 1,025,
// with the roots 0, 1, the last and three drawn ones, and fewer counts.
// Invariant: the same filter and seed give the same cases.
// Owner: none; pure functions. Threads: any.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "simtest/coll_cases.hpp"

namespace photon::simtest::coll {

struct Filter {
  std::vector<schedule::Kind> kinds;
  std::vector<schedule::Algorithm> algorithms;
  std::vector<std::uint32_t> sizes;  // empty: those that the plan takes
};

inline constexpr std::uint32_t kMostWithAllRoots = 130;
inline constexpr std::uint32_t kMostMembersPlanned = 1025;

Filter everything();
std::vector<std::uint32_t> planned_sizes();

// False from `each` ends it.
using Each = std::function<bool(const CollCase&)>;
void every_case(const Filter& filter, std::uint64_t seed, const Each& each);

// Nothing: no algorithm of the filter knows the kind that was drawn at the size.
std::optional<CollCase> drawn_case(const Filter& filter, std::uint64_t seed, std::uint64_t number);

// Whether all members choose the same algorithm for every kind of a team of this size, and that it
// is known at each; else the first that is wrong in words. `questions` grows.
std::string check_choices(std::uint32_t size, std::uint64_t& questions);

}  // namespace photon::simtest::coll
