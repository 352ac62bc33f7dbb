// What elements are in memory, and the numbers in them: reals of 16 bits and how they are widened
// and rounded, complex numbers, pairs of a value and an index.
//
// Invariants: an element may lie at any address (Loose). Each result has the same bits with every
// instruction set: of two NaN the left one goes into the result, whichever operand the processor
// prefers; nothing here depends on how denormal numbers are treated but the operations of float
// and double themselves. Everything is inlined into the loop that calls it, which was built for
// the instructions of its own. Owner: none; pure functions. Threads: any.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace photon::fold {

// An element where it lies, at an address of any alignment, in memory of any type.
template <class T>
struct [[gnu::packed, gnu::may_alias]] Loose {
  T value;
};

struct Half {
  std::uint16_t bits;
};
struct Bfloat {
  std::uint16_t bits;
};
// An x87 number and what fills its place up, which is 0 in each result.
struct Extended {
  std::uint64_t fraction;
  std::uint16_t exponent;
  std::uint16_t filling[3];
};
template <class T>
struct Complex {
  T real, imaginary;
};
template <class T>
struct Located {
  T value;
  std::int32_t index;
};
template <class T>
  requires(sizeof(T) == 8)
struct Located<T> {
  T value;
  std::int32_t index;
  std::int32_t filling;  // 0 in each result
};
static_assert(sizeof(Extended) == sizeof(long double) && sizeof(Located<double>) == 16);

template <class T>
concept Short = std::same_as<T, Half> || std::same_as<T, Bfloat>;

template <Short T>
constexpr std::uint16_t kInfinityOf = std::same_as<T, Half> ? 0x7c00 : 0x7f80;
template <Short T>
constexpr std::uint16_t kQuietOf = std::same_as<T, Half> ? 0x0200 : 0x0040;
template <Short T>
constexpr std::uint16_t kOneOf = std::same_as<T, Half> ? 0x3c00 : 0x3f80;

[[gnu::always_inline]] inline float as_float(std::uint32_t bits) noexcept {
  return std::bit_cast<float>(bits);
}
[[gnu::always_inline]] inline std::uint32_t bits_of(float number) noexcept {
  return std::bit_cast<std::uint32_t>(number);
}

// The left one if it is NaN: then an operation on the left one and this one has one NaN to pass on.
template <std::floating_point T>
[[gnu::always_inline]] inline T unless_nan(T left, T right) noexcept {
  return left != left ? left : right;
}

// Exact. Denormal ones are the difference of two numbers that are not.
[[gnu::always_inline]] inline float widened(Half half) noexcept {
  constexpr std::uint32_t kRebias = 127 - 15, kLeast = 1 + kRebias;  // exponents
  const std::uint32_t sign = std::uint32_t{half.bits & 0x8000U} << 16;
  const std::uint32_t rest = std::uint32_t{half.bits & 0x7fffU} << 13;
  const float denormal = as_float(rest + (kLeast << 23)) - as_float(kLeast << 23);
  const std::uint32_t normal = rest + (kRebias << 23);
  const std::uint32_t endless = normal + (kRebias << 23);
  const std::uint32_t exponent = rest & 0x0f800000U;
  const std::uint32_t least = exponent == 0 ? bits_of(denormal) : normal;
  return as_float((exponent == 0x0f800000U ? endless : least) | sign);
}

// To nearest, ties to even. What is denormal as a half is rounded by an addition whose last place
// is that of such a half.
[[gnu::always_inline]] inline Half to_half(float number) noexcept {
  constexpr std::uint32_t kRebias = 127 - 15, kLeast = 1 + kRebias;
  constexpr std::uint32_t kAnchor = (kLeast + 23 - 10) << 23;
  const std::uint32_t bits = bits_of(number);
  const std::uint32_t sign = bits >> 16 & 0x8000U;
  const std::uint32_t rest = bits & 0x7fffffffU;
  const std::uint32_t denormal = bits_of(as_float(rest) + as_float(kAnchor)) - kAnchor;
  const std::uint32_t normal = (rest - (kRebias << 23) + 0xfffU + (rest >> 13 & 1U)) >> 13;
  const std::uint32_t finite = rest < (kLeast << 23) ? denormal : normal;
  const std::uint32_t payload = rest >> 13 & 0x3ffU;
  const std::uint32_t endless = rest > 0x7f800000U ? 0x7e00U | payload : 0x7c00U;
  const std::uint32_t half = rest >= ((127U + 16) << 23) ? endless : finite;
  return {static_cast<std::uint16_t>(half | sign)};
}

[[gnu::always_inline]] inline float widened(Bfloat number) noexcept {
  return as_float(std::uint32_t{number.bits} << 16);
}

// To nearest, ties to even: the result of an operation on widened ones. If it is NaN, its lower
// bits are 0, so that it stays as it is.
[[gnu::always_inline]] inline Bfloat to_bfloat(float number) noexcept {
  const std::uint32_t bits = bits_of(number);
  return {static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16)};
}

template <Short T>
[[gnu::always_inline]] inline T rounded(float number) noexcept {
  if constexpr (std::same_as<T, Half>)
    return to_half(number);
  else
    return to_bfloat(number);
}

[[gnu::always_inline]] inline long double number_of(Extended place) noexcept {
  return std::bit_cast<long double>(place);
}
[[gnu::always_inline]] inline Extended to_extended(long double number) noexcept {
  Extended place{};
  std::memcpy(&place, &number, 10);
  return place;
}

}  // namespace photon::fold
