// What becomes of one element, by other means than the library's: integers of all widths are
// numbers of 64 bits here, of which the lower ones are kept; complex numbers are the standard
// library's; an element that is chosen is copied, part by part.
#pragma once

#include <cmath>

#include "elements.hpp"
#include "interop/mpi/fold/fold.hpp"

namespace photon::mpi::test {

// Zeros, or the sign, in front of it.
template <std::integral T>
std::uint64_t widened(const unsigned char* from) {
  return static_cast<std::uint64_t>(loaded<T>(from));
}

template <std::integral T>
std::uint64_t integer_result(Op op, const unsigned char* target, const unsigned char* source) {
  const std::uint64_t a = widened<T>(target), b = widened<T>(source);
  const auto before = [](std::uint64_t one, std::uint64_t other) {
    return std::is_signed_v<T> ? static_cast<std::int64_t>(one) < static_cast<std::int64_t>(other)
                               : one < other;
  };
  switch (op) {
    case Op::sum: return a + b;
    case Op::prod: return a * b;
    case Op::min: return before(a, b) ? a : b;
    case Op::max: return before(a, b) ? b : a;
    case Op::land: return a != 0 && b != 0;
    case Op::lor: return a != 0 || b != 0;
    case Op::lxor: return (a != 0 || b != 0) && !(a != 0 && b != 0);
    case Op::band: return ~(~a | ~b);
    case Op::bor: return ~(~a & ~b);
    case Op::bxor: return (a & ~b) | (~a & b);
    default: return a;
  }
}
template <std::integral T>
void computed(Op op, unsigned char* target, const unsigned char* source, T*) {
  stored(target, static_cast<T>(integer_result<T>(op, target, source)));
}

// Whether the source is taken instead of the target.
template <class T>
bool is_source_chosen(bool is_min, T target, T source) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(target)) return false;
    if (std::isnan(source)) return true;
  }
  return is_min ? target > source : target < source;
}
template <std::floating_point T>
void computed(Op op, unsigned char* target, const unsigned char* source, T*) {
  const T a = loaded<T>(target), b = loaded<T>(source);
  if (op == Op::sum || op == Op::prod) return stored(target, op == Op::sum ? a + b : a * b);
  if (is_source_chosen(op == Op::min, a, b)) std::memcpy(target, source, sizeof(T));
}
template <class T>
void computed(Op op, unsigned char* target, const unsigned char* source, std::complex<T>*) {
  const auto a = loaded<std::complex<T>>(target), b = loaded<std::complex<T>>(source);
  stored(target, op == Op::sum ? a + b : a * b);
}
template <class T, class Index>
void computed(Op op, unsigned char* target, const unsigned char* source, Pair<T, Index>*) {
  const auto a = loaded<Pair<T, Index>>(target), b = loaded<Pair<T, Index>>(source);
  bool are_equal = a.value == b.value;
  if constexpr (std::is_floating_point_v<T>)
    are_equal = are_equal || (std::isnan(a.value) && std::isnan(b.value));
  const bool is_chosen =
      are_equal ? b.index < a.index : is_source_chosen(op == Op::minloc, a.value, b.value);
  if (is_chosen) std::memcpy(target, source, sizeof a);
}

inline void fold_one(FoldKind kind, unsigned char* target, const unsigned char* source) {
  if (kind.op == Op::no_op) return;
  if (kind.op == Op::replace) {
    std::memcpy(target, source, bytes_of(kind.basic));
    return;
  }
  with_type(kind.basic,
            [&]<class T>() { computed(kind.op, target, source, static_cast<T*>(nullptr)); });
}

inline bool is_nan(Basic basic, const unsigned char* at) {
  bool is = false;
  with_type(basic, [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>) is = std::isnan(loaded<T>(at));
  });
  return is;
}

// Of the bits of a computed NaN nobody promises anything.
inline bool is_same(FoldKind kind, const unsigned char* got, const unsigned char* wanted) {
  if ((kind.op == Op::sum || kind.op == Op::prod) && is_nan(kind.basic, wanted))
    return is_nan(kind.basic, got);
  for (const Span span : value_spans(kind.basic))
    if (std::memcmp(got + span.begin, wanted + span.begin, span.bytes) != 0) return false;
  return true;
}

}  // namespace photon::mpi::test
