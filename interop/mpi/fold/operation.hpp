// Each operation on one element is a function `of`: of(target, source) is what the target becomes.
// fold.hpp says what they promise.
//
// Invariant: each is inlined into the loop that calls it, and has no branch that hinders a loop
// from becoming vector instructions. Integers are unsigned but for min, max and values of pairs.
// Owner: none; pure functions. Threads: any.
#pragma once

#include <concepts>
#include <type_traits>

#include "interop/mpi/fold/number.hpp"

namespace photon::mpi {

// Unsigned and as wide as an int at least, so that nothing is computed as a signed int; of reals
// the type itself.
template <class T>
using Computed = std::common_type_t<T, unsigned>;

struct Sum {
  template <class T>
  static T of(T target, T source) noexcept {
    return static_cast<T>(Computed<T>{target} + Computed<T>{source});
  }
  template <class T>
  static Complex<T> of(Complex<T> target, Complex<T> source) noexcept {
    return {target.real + source.real, target.imaginary + source.imaginary};
  }
};

struct Prod {
  template <class T>
  static T of(T target, T source) noexcept {
    return static_cast<T>(Computed<T>{target} * Computed<T>{source});
  }
  template <class T>
  static Complex<T> of(Complex<T> target, Complex<T> source) noexcept {
    return {target.real * source.real - target.imaginary * source.imaginary,
            target.real * source.imaginary + target.imaginary * source.real};
  }
};

struct Less {
  template <class T>
  static bool is(T one, T other) noexcept {
    return one < other;
  }
};
struct Greater {
  template <class T>
  static bool is(T one, T other) noexcept {
    return one > other;
  }
};

template <class Before>
struct Extreme {
  template <class T>
  static T of(T target, T source) noexcept {
    if constexpr (std::floating_point<T>)
      return Before::is(source, target) || (source != source && target == target) ? source : target;
    else
      return Before::is(source, target) ? source : target;
  }
  template <class T, class Index>
  static Located<T, Index> of(Located<T, Index> target, Located<T, Index> source) noexcept {
    return is_chosen(target, source) ? source : target;
  }

 private:
  template <class T, class Index>
  static bool is_chosen(Located<T, Index> target, Located<T, Index> source) noexcept {
    const bool is_lower = source.index < target.index;
    if constexpr (std::floating_point<T>) {
      const bool is_nan = source.value != source.value, was_nan = target.value != target.value;
      if (is_nan || was_nan) return is_nan && (!was_nan || is_lower);
    }
    return Before::is(source.value, target.value) || (source.value == target.value && is_lower);
  }
};
using Min = Extreme<Less>;
using Max = Extreme<Greater>;

struct LogicalAnd {
  template <class T>
  static T of(T target, T source) noexcept {
    return static_cast<T>((target != 0) & (source != 0));
  }
};
struct LogicalOr {
  template <class T>
  static T of(T target, T source) noexcept {
    return static_cast<T>((target | source) != 0);
  }
};
struct LogicalXor {
  template <class T>
  static T of(T target, T source) noexcept {
    return static_cast<T>((target != 0) != (source != 0));
  }
};
struct BitAnd {
  template <class T>
  static T of(T target, T source) noexcept {
    return static_cast<T>(target & source);
  }
};
struct BitOr {
  template <class T>
  static T of(T target, T source) noexcept {
    return static_cast<T>(target | source);
  }
};
struct BitXor {
  template <class T>
  static T of(T target, T source) noexcept {
    return static_cast<T>(target ^ source);
  }
};
struct Replace {
  template <class T>
  static T of(const T&, const T& source) noexcept {
    return source;
  }
};
struct NoOp {};  // the loops leave the target alone

}  // namespace photon::mpi
