// Operations on one pair of elements, by type (fold.hpp says what each promises).
//
// Invariants: integers are reckoned as unsigned ones of at least an int, where overflow is no
// undefined behaviour, and the way back is exact modulo 2^n. There is no branch where vectors help:
// loops over these become vector instructions. Owner: none; pure functions. Threads: any.
#pragma once

#include "fold/number.hpp"

namespace photon::fold {

template <std::integral T>
using Reckoned = std::common_type_t<unsigned, std::make_unsigned_t<T>>;

struct Add {
  template <std::integral T>
  [[gnu::always_inline]] static T of(T left, T right) noexcept {
    return static_cast<T>(static_cast<Reckoned<T>>(left) + static_cast<Reckoned<T>>(right));
  }
  template <std::floating_point T>
  [[gnu::always_inline]] static T of(T left, T right) noexcept {
    return left + unless_nan(left, right);
  }
  template <Short T>
  [[gnu::always_inline]] static T of(T left, T right) noexcept {
    return rounded<T>(of(widened(left), widened(right)));
  }
  [[gnu::always_inline]] static Extended of(Extended left, Extended right) noexcept {
    return to_extended(of(number_of(left), number_of(right)));
  }
  template <class T>
  [[gnu::always_inline]] static Complex<T> of(Complex<T> left, Complex<T> right) noexcept {
    return {of(left.real, right.real), of(left.imaginary, right.imaginary)};
  }
};

struct Multiply {
  template <std::integral T>
  [[gnu::always_inline]] static T of(T left, T right) noexcept {
    return static_cast<T>(static_cast<Reckoned<T>>(left) * static_cast<Reckoned<T>>(right));
  }
  template <std::floating_point T>
  [[gnu::always_inline]] static T of(T left, T right) noexcept {
    return left * unless_nan(left, right);
  }
  template <Short T>
  [[gnu::always_inline]] static T of(T left, T right) noexcept {
    return rounded<T>(of(widened(left), widened(right)));
  }
  [[gnu::always_inline]] static Extended of(Extended left, Extended right) noexcept {
    return to_extended(of(number_of(left), number_of(right)));
  }
  template <std::floating_point T>
  [[gnu::always_inline]] static Complex<T> of(Complex<T> left, Complex<T> right) noexcept {
    const T real = of(left.real, right.real);
    return {real - unless_nan(real, of(left.imaginary, right.imaginary)),
            Add::of(of(left.real, right.imaginary), of(left.imaginary, right.real))};
  }
  [[gnu::always_inline]] static Complex<Extended> of(Complex<Extended> left,
                                                     Complex<Extended> right) noexcept {
    const Complex<long double> product =
        of(Complex<long double>{number_of(left.real), number_of(left.imaginary)},
           Complex<long double>{number_of(right.real), number_of(right.imaginary)});
    return {to_extended(product.real), to_extended(product.imaginary)};
  }
};

// Where a real of 16 bits stands among all: -0 before +0. It is its own inverse.
[[gnu::always_inline]] inline std::int16_t order_of(std::uint16_t bits) noexcept {
  const auto number = static_cast<std::int16_t>(bits);
  return static_cast<std::int16_t>(number ^ ((number >> 15) & 0x7fff));
}
template <Short T>
[[gnu::always_inline]] inline bool is_nan(T number) noexcept {
  return static_cast<std::int16_t>(number.bits & 0x7fff) >
         static_cast<std::int16_t>(kInfinityOf<T>);
}

// Of two zeros, as bits: a minimum has the sign if either has it, a maximum if both have.
template <bool kMost, std::unsigned_integral T>
[[gnu::always_inline]] inline T signs_joined(T left, T right) noexcept {
  return kMost ? left & right : left | right;
}
template <bool kMost>
[[gnu::always_inline]] inline float joined(float left, float right) noexcept {
  return as_float(signs_joined<kMost>(bits_of(left), bits_of(right)));
}
template <bool kMost>
[[gnu::always_inline]] inline double joined(double left, double right) noexcept {
  return std::bit_cast<double>(
      signs_joined<kMost>(std::bit_cast<std::uint64_t>(left), std::bit_cast<std::uint64_t>(right)));
}
template <bool kMost>
[[gnu::always_inline]] inline long double joined(long double left, long double right) noexcept {
  return __builtin_signbit(left) != 0 ? (kMost ? right : left) : (kMost ? left : right);
}

template <bool kMost>
struct Extreme {
  template <std::integral T>
  [[gnu::always_inline]] static T of(T left, T right) noexcept {
    return (kMost ? left > right : left < right) ? left : right;
  }
  template <std::floating_point T>
  [[gnu::always_inline]] static T of(T left, T right) noexcept {
    const T one = (kMost ? left > right : left < right) ? left : right;
    const T other = (kMost ? right > left : right < left) ? right : left;
    const T nan = unless_nan(left, right);
    // The two are the same number, unless both are zeros, or one is NaN.
    return left != left || right != right ? nan + nan : joined<kMost>(one, other);
  }
  template <Short T>
  [[gnu::always_inline]] static T of(T left, T right) noexcept {
    const std::int16_t extreme = of(order_of(left.bits), order_of(right.bits));
    const auto number = static_cast<std::uint16_t>(order_of(static_cast<std::uint16_t>(extreme)));
    const auto nan =
        static_cast<std::uint16_t>((is_nan(left) ? left.bits : right.bits) | kQuietOf<T>);
    return {is_nan(left) || is_nan(right) ? nan : number};
  }
  [[gnu::always_inline]] static Extended of(Extended left, Extended right) noexcept {
    return to_extended(of(number_of(left), number_of(right)));
  }
};
using Min = Extreme<false>;
using Max = Extreme<true>;

// What a located value is compared by, an integer of its size: of a real its magnitude with its
// sign, so that -0 is equal to +0; a NaN goes before all numbers, and is equal to another.
template <class T>
using Compared = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
template <class T>
constexpr auto kInfinityBits = std::bit_cast<Compared<T>>(std::numeric_limits<T>::infinity());

// Without a branch, which compilers would make of two choices by the same condition.
template <std::signed_integral T>
[[gnu::always_inline]] inline T chosen(bool is_first, T first, T second) noexcept {
  const T mask = -static_cast<T>(is_first);
  return (first & mask) | (second & ~mask);
}

template <bool kMost, class T>
[[gnu::always_inline]] inline Compared<T> compared(Compared<T> bits) noexcept {
  if constexpr (std::integral<T>) {
    return bits;
  } else {
    using Limits = std::numeric_limits<Compared<T>>;
    const Compared<T> magnitude = bits & Limits::max();
    const Compared<T> number = bits < 0 ? -magnitude : magnitude;
    return chosen<Compared<T>>(magnitude > kInfinityBits<T>, kMost ? Limits::max() : Limits::min(),
                               number);
  }
}

// Of equal values the lower index wins, with the value beside it; of equal indices, too, the value
// is that of Extreme. Values are bits of a T: with integers alone the loop becomes vectors.
template <bool kMost, class T>
struct ExtremeAt {
  using Place = Located<Compared<T>>;

  [[gnu::always_inline]] static Place of(Place left, Place right) noexcept {
    const Compared<T> a = compared<kMost, T>(left.value), b = compared<kMost, T>(right.value);
    const bool is_first = kMost ? a > b : a < b, is_equal = a == b;
    const bool is_lower = left.index < right.index, is_same = left.index == right.index;
    const bool takes_left = is_first | (is_equal & is_lower);
    Place result{};
    result.value = value_of(takes_left ? left.value : right.value, left.value, is_equal & is_same);
    result.index = takes_left ? left.index : right.index;
    return result;
  }

 private:
  // Two of one place may differ as zeros and as NaN.
  [[gnu::always_inline]] static Compared<T> value_of(Compared<T> bits, Compared<T> left,
                                                     bool is_one_place) noexcept {
    if constexpr (std::integral<T>) {
      return bits;
    } else {
      constexpr Compared<T> kQuiet = Compared<T>{1} << (std::numeric_limits<T>::digits - 2);
      constexpr Compared<T> kMagnitude = std::numeric_limits<Compared<T>>::max();
      const bool is_nan = (bits & kMagnitude) > kInfinityBits<T>;
      const Compared<T> zeros = kMost ? bits & left : bits | left;
      const Compared<T> tied = chosen(is_nan, left, zeros);
      return chosen(is_one_place, tied, bits) | chosen(is_nan, kQuiet, Compared<T>{0});
    }
  }
};
template <class T>
using MinAt = ExtremeAt<false, T>;
template <class T>
using MaxAt = ExtremeAt<true, T>;

struct BitAnd {
  template <std::unsigned_integral T>
  [[gnu::always_inline]] static T of(T left, T right) noexcept {
    return left & right;
  }
};
struct BitOr {
  template <std::unsigned_integral T>
  [[gnu::always_inline]] static T of(T left, T right) noexcept {
    return left | right;
  }
};
struct BitXor {
  template <std::unsigned_integral T>
  [[gnu::always_inline]] static T of(T left, T right) noexcept {
    return left ^ right;
  }
};

// Whether it counts as true. NaN does, as in C.
template <class T>
  requires std::is_arithmetic_v<T>
[[gnu::always_inline]] inline bool is_true(T number) noexcept {
  return number != 0;
}
template <Short T>
[[gnu::always_inline]] inline bool is_true(T number) noexcept {
  return (number.bits & 0x7fff) != 0;
}
[[gnu::always_inline]] inline bool is_true(Extended place) noexcept {
  return number_of(place) != 0;
}
template <class T>
[[gnu::always_inline]] inline T truth(bool is) noexcept {
  if constexpr (Short<T>)
    return {is ? kOneOf<T> : std::uint16_t{0}};
  else if constexpr (std::same_as<T, Extended>)
    return to_extended(is ? 1.0L : 0.0L);
  else
    return is ? T{1} : T{0};
}

// The operation that Bits is, of the truth of each.
template <class Bits>
struct Logical {
  template <class T>
  [[gnu::always_inline]] static T of(T left, T right) noexcept {
    return truth<T>(Bits::of(unsigned{is_true(left)}, unsigned{is_true(right)}) != 0);
  }
};

}  // namespace photon::fold
