// The reals of 16 bits without instructions for them: how they are widened and rounded.
#include <gtest/gtest.h>

#include <bit>

#include "fold/operation.hpp"
#include "fold_elements.hpp"
#include "fold_short.hpp"

namespace photon::fold::test {
namespace {

// What lies around a number of 16 bits and half way to the next one, as floats.
void check_rounding_near(ph_type type, std::uint16_t bits) {
  const RealForm form = real_form(type);
  const float here = static_cast<float>(decoded_short(bits, form));
  const auto next_bits = static_cast<std::uint16_t>(bits + 1);
  const long double next = decoded_short(next_bits, form);
  if (!std::isfinite(here)) return;
  const long double beyond =
      std::isinf(next) ? here + std::ldexp(here < 0 ? -1.0L : 1.0L, form.bias - form.fraction_bits)
                       : next;
  const auto middle = static_cast<float>((here + beyond) / 2);
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float near : {here, middle})
    for (const float one :
         {near, std::nextafter(near, infinity), std::nextafter(near, -infinity)}) {
      const std::uint16_t got = type == PH_HALF ? to_half(one).bits : to_bfloat(one).bits;
      ASSERT_EQ(got, encoded_short(static_cast<long double>(one), form))
          << name_of(type) << " " << one << " near " << bits;
    }
}

TEST(FoldBaseline, each_real_of_16_bits_is_widened_exactly) {
  for (const std::uint16_t bits : all_shorts()) {
    const float half = widened(Half{bits}), bfloat = widened(Bfloat{bits});
    const auto same = [](float one, long double other) {
      return std::isnan(one) ? std::isnan(other)
                             : one == other && std::signbit(one) == std::signbit(other);
    };
    ASSERT_TRUE(same(half, decoded_short(bits, real_form(PH_HALF)))) << bits;
    ASSERT_TRUE(same(bfloat, decoded_short(bits, real_form(PH_BFLOAT16)))) << bits;
  }
}

TEST(FoldBaseline, floats_are_rounded_to_the_nearest_and_of_two_to_the_even) {
  for (const std::uint16_t bits : all_shorts()) {
    check_rounding_near(PH_HALF, bits);
    check_rounding_near(PH_BFLOAT16, bits);
    if (HasFatalFailure()) return;
  }
  std::mt19937 random(7);
  for (int i = 0; i < 300'000; ++i) {
    const float one = as_float(static_cast<std::uint32_t>(random()));
    if (std::isnan(one)) continue;
    ASSERT_EQ(to_half(one).bits, encoded_short(one, real_form(PH_HALF))) << one;
    ASSERT_EQ(to_bfloat(one).bits, encoded_short(one, real_form(PH_BFLOAT16))) << one;
  }
}

TEST(FoldBaseline, what_is_too_great_for_a_half_is_infinite) {
  EXPECT_EQ(to_half(65519.0F).bits, 0x7bff);
  EXPECT_EQ(to_half(65520.0F).bits, 0x7c00);
  EXPECT_EQ(to_half(-1e30F).bits, 0xfc00);
  EXPECT_EQ(to_half(std::numeric_limits<float>::infinity()).bits, 0x7c00);
}

TEST(FoldBaseline, each_real_of_16_bits_is_folded_as_wider_numbers_are) {
  const auto partners = short_partners(40);
  for (const ph_type type : {PH_HALF, PH_BFLOAT16})
    for (const ph_op op : {PH_OP_ADD, PH_OP_MULTIPLY, PH_OP_MIN, PH_OP_MAX})
      for (const std::uint16_t bits : all_shorts()) {
        unsigned char left[2], right[2], wanted[2], got[2];
        stored(left, bits);
        stored(right, partners[bits % partners.size()]);
        fold_one(type, op, left, right, wanted);
        find(type, op, Isa::baseline)(left, right, got, 1);
        ASSERT_EQ(loaded<std::uint16_t>(got), loaded<std::uint16_t>(wanted))
            << name_of(type) << " " << name_of(op) << " " << bits;
      }
}

}  // namespace
}  // namespace photon::fold::test
