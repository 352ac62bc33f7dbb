// All reals of 16 bits, folded by one set of instructions and by the baseline.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "fold/fold.hpp"
#include "rounds.hpp"

namespace photon::fold::test {

// Zeros, the least, the last below and the first of the normal ones, one, the greatest, infinities
// and NaN of both types, and drawn ones.
inline std::vector<std::uint16_t> short_partners(std::size_t count) {
  std::vector<std::uint16_t> all{0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x007f, 0x0080,
                                 0x3c00, 0xbc00, 0x3f80, 0xbf80, 0x7bff, 0xfbff, 0x7f7f, 0xff7f,
                                 0x7c00, 0xfc00, 0x7f80, 0xff80, 0x7c01, 0x7e01, 0x7f81, 0xffc1};
  std::mt19937 random(5);
  while (all.size() < count) all.push_back(static_cast<std::uint16_t>(random()));
  return all;
}

inline std::vector<std::uint16_t> all_shorts() {
  std::vector<std::uint16_t> all(65536);
  std::iota(all.begin(), all.end(), std::uint16_t{0});
  return all;
}

inline void check_same_bits_as_baseline(ph_type type, ph_op op, Isa isa) {
  const std::vector<std::uint16_t> left = all_shorts();
  std::vector<std::uint16_t> right(left.size()), wanted(left.size()), got(left.size());
  for (const std::uint16_t partner : short_partners(photon::test::rounds(100, 24))) {
    std::fill(right.begin(), right.end(), partner);
    find(type, op, Isa::baseline)(left.data(), right.data(), wanted.data(), left.size());
    find(type, op, isa)(left.data(), right.data(), got.data(), left.size());
    ASSERT_EQ(got, wanted) << name_of(type) << " " << name_of(op) << " with " << partner;
    find(type, op, Isa::baseline)(right.data(), left.data(), wanted.data(), left.size());
    find(type, op, isa)(right.data(), left.data(), got.data(), left.size());
    ASSERT_EQ(got, wanted) << name_of(type) << " " << name_of(op) << " of " << partner;
  }
}

inline void check_same_bits_as_baseline(Isa isa) {
  for (const ph_type type : {PH_HALF, PH_BFLOAT16})
    for (const ph_op op : {PH_OP_ADD, PH_OP_MULTIPLY, PH_OP_MIN, PH_OP_MAX})
      check_same_bits_as_baseline(type, op, isa);
}

}  // namespace photon::fold::test
