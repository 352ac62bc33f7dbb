// This header has the type of C++ that stands for each basic type in memory, and how elements
// are read and written at any address.
//
// Invariant: an element may lie at any address, in memory of any type (Loose). Owner: none; pure
// functions. Threads: any.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "interop/mpi/fold/element.hpp"

namespace photon::mpi {

// An element where it lies.
template <class T>
struct [[gnu::packed, gnu::may_alias]] Loose {
  T value;
};

template <class T>
struct Complex {
  T real, imaginary;
};
// A pair. Between its parts and behind them there may be holes.
template <class T, class Index>
struct Located {
  T value;
  Index index;
};
struct Bits16 {
  std::uint64_t words[2];
};
struct Bits32 {
  std::uint64_t words[4];
};

template <std::size_t kBytes>
struct BitsOf;
template <>
struct BitsOf<1> : std::type_identity<std::uint8_t> {};
template <>
struct BitsOf<2> : std::type_identity<std::uint16_t> {};
template <>
struct BitsOf<4> : std::type_identity<std::uint32_t> {};
template <>
struct BitsOf<8> : std::type_identity<std::uint64_t> {};
template <>
struct BitsOf<16> : std::type_identity<Bits16> {};
template <>
struct BitsOf<32> : std::type_identity<Bits32> {};
template <std::size_t kBytes>
using Bits = typename BitsOf<kBytes>::type;

// A type that has no arithmetic of its own is seen as its bits.
template <Basic basic>
struct NumberOf : BitsOf<bytes_of(basic)> {};
template <>
struct NumberOf<Basic::int8> : std::type_identity<std::int8_t> {};
template <>
struct NumberOf<Basic::int16> : std::type_identity<std::int16_t> {};
template <>
struct NumberOf<Basic::int32> : std::type_identity<std::int32_t> {};
template <>
struct NumberOf<Basic::int64> : std::type_identity<std::int64_t> {};
template <>
struct NumberOf<Basic::float32> : std::type_identity<float> {};
template <>
struct NumberOf<Basic::float64> : std::type_identity<double> {};
template <>
struct NumberOf<Basic::extended> : std::type_identity<long double> {};
template <>
struct NumberOf<Basic::complex32> : std::type_identity<Complex<float>> {};
template <>
struct NumberOf<Basic::complex64> : std::type_identity<Complex<double>> {};
template <>
struct NumberOf<Basic::complex_extended> : std::type_identity<Complex<long double>> {};
template <>
struct NumberOf<Basic::float_int> : std::type_identity<Located<float, int>> {};
template <>
struct NumberOf<Basic::double_int> : std::type_identity<Located<double, int>> {};
template <>
struct NumberOf<Basic::long_int> : std::type_identity<Located<long, int>> {};
template <>
struct NumberOf<Basic::int_int> : std::type_identity<Located<int, int>> {};
template <>
struct NumberOf<Basic::short_int> : std::type_identity<Located<short, int>> {};
template <>
struct NumberOf<Basic::extended_int> : std::type_identity<Located<long double, int>> {};
template <>
struct NumberOf<Basic::float_float> : std::type_identity<Located<float, float>> {};
template <>
struct NumberOf<Basic::double_double> : std::type_identity<Located<double, double>> {};
template <Basic basic>
using Number = typename NumberOf<basic>::type;

template <class T>
[[gnu::always_inline]] inline T taken(const Loose<T>& from) noexcept {
  return from.value;
}
template <class T>
[[gnu::always_inline]] inline void put(Loose<T>& to, const T& element) noexcept {
  to.value = element;
}
// Without its holes.
template <class T, class Index>
[[gnu::always_inline]] inline void put(Loose<Located<T, Index>>& to,
                                       const Located<T, Index>& element) noexcept {
  to.value.value = element.value;
  to.value.index = element.index;
}

}  // namespace photon::mpi
