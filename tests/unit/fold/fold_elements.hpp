// One element of each type: what its fold must give (fold_reference.hpp), and elements to fold.
#pragma once

#include <algorithm>

#include "fold/fold.hpp"
#include "fold_reference.hpp"

namespace photon::fold::test {

struct Kind {
  enum Family { integer, real, complex, located, bytes } family;
  ph_type part;  // of complex numbers, or the value's
};
inline Kind kind_of(ph_type type) {
  switch (type) {
    case PH_HALF:
    case PH_BFLOAT16:
    case PH_FLOAT:
    case PH_DOUBLE:
    case PH_LONG_DOUBLE: return {Kind::real, type};
    case PH_COMPLEX_FLOAT: return {Kind::complex, PH_FLOAT};
    case PH_COMPLEX_DOUBLE: return {Kind::complex, PH_DOUBLE};
    case PH_COMPLEX_LONG_DOUBLE: return {Kind::complex, PH_LONG_DOUBLE};
    case PH_FLOAT_INT: return {Kind::located, PH_FLOAT};
    case PH_DOUBLE_INT: return {Kind::located, PH_DOUBLE};
    case PH_INT32_INT: return {Kind::located, PH_INT32};
    case PH_INT64_INT: return {Kind::located, PH_INT64};
    case PH_BYTES: return {Kind::bytes, type};
    default: return {Kind::integer, type};
  }
}

inline bool knows(ph_type type, ph_op op) {
  const bool is_sum = op == PH_OP_ADD || op == PH_OP_MULTIPLY;
  const bool is_logical =
      op == PH_OP_LOGICAL_AND || op == PH_OP_LOGICAL_OR || op == PH_OP_LOGICAL_XOR;
  const bool is_extreme = op == PH_OP_MIN || op == PH_OP_MAX;
  switch (kind_of(type).family) {
    case Kind::integer:
      return is_sum || is_logical || is_extreme || op == PH_OP_AND || op == PH_OP_OR ||
             op == PH_OP_XOR;
    case Kind::real: return is_sum || is_logical || is_extreme;
    case Kind::complex: return is_sum;
    case Kind::located: return op == PH_OP_MINLOC || op == PH_OP_MAXLOC;
    case Kind::bytes: return false;
  }
  return false;
}

inline void fold_one(ph_type type, ph_op op, const unsigned char* left, const unsigned char* right,
                     unsigned char* to) {
  const Kind kind = kind_of(type);
  if (kind.family == Kind::real) return fold_real(type, op, left, right, to);
  if (kind.family == Kind::complex) return fold_complex(kind.part, op, left, right, to);
  if (kind.family == Kind::located)
    return fold_located(kind.part, op == PH_OP_MAXLOC, left, right, to);
  switch (type) {
    case PH_INT8: return fold_integer<std::int8_t>(op, left, right, to);
    case PH_UINT8: return fold_integer<std::uint8_t>(op, left, right, to);
    case PH_INT16: return fold_integer<std::int16_t>(op, left, right, to);
    case PH_UINT16: return fold_integer<std::uint16_t>(op, left, right, to);
    case PH_INT32: return fold_integer<std::int32_t>(op, left, right, to);
    case PH_UINT32: return fold_integer<std::uint32_t>(op, left, right, to);
    case PH_INT64: return fold_integer<std::int64_t>(op, left, right, to);
    default: return fold_integer<std::uint64_t>(op, left, right, to);
  }
}

// Elements of a type, one behind the other: any bits, near numbers, and what is special.
class Elements {
 public:
  explicit Elements(unsigned seed) : random_(seed) {}

  Bytes make(ph_type type, std::size_t count) {
    const std::size_t size = element_bytes_of(type);
    const Kind kind = kind_of(type);
    Bytes all(size * count);
    for (std::size_t at = 0; at < all.size(); at += size) {
      for (std::size_t i = 0; i < size; ++i) all[at + i] = static_cast<unsigned char>(random_());
      const std::size_t parts = kind.family == Kind::complex ? 2 : 1;
      for (std::size_t part = 0; part < parts; ++part)
        make_number(kind.part, all.data() + at + part * size / parts);
      if (kind.family == Kind::located && random_() % 2 == 0)
        stored(all.data() + at + size / 2, static_cast<std::int32_t>(random_() % 3) - 1);
    }
    return all;
  }

 private:
  void make_number(ph_type type, unsigned char* at) {
    if (kind_of(type).family == Kind::real)
      make_real(type, at);
    else
      make_integer(element_bytes_of(type), at);
  }
  // 0, 1, -1, the least, the greatest; or as it is.
  void make_integer(std::size_t size, unsigned char* at) {
    const auto which = random_() % 10;
    if (which > 4) return;
    std::memset(at, which == 2 || which == 4 ? 0xff : 0, size);
    if (which == 1) at[0] = 1;
    if (which == 3) at[size - 1] = 0x80;
    if (which == 4) at[size - 1] = 0x7f;
  }
  void make_real(ph_type type, unsigned char* at) {
    const RealForm form = real_form(type);
    const auto which = random_() % 12;
    const bool is_minus = random_() % 2 == 0;
    const auto small = static_cast<long double>(random_() % 100) / 8;
    if (type == PH_LONG_DOUBLE)  // not any bits are a number
      put_long_double(at, std::ldexp(static_cast<long double>(random_()) * 3,
                                     static_cast<int>(random_() % 400) - 200));
    if (which == 0) put(type, at, 0);
    if (which == 1) put(type, at, HUGE_VALL);
    if (which == 2 || which == 3) put(type, at, std::numeric_limits<long double>::quiet_NaN());
    if (which == 2) at[form.quiet_byte] &= static_cast<unsigned char>(~form.quiet_bit);
    if (which == 2 || which == 3) at[0] |= static_cast<unsigned char>(1 + random_() % 15);
    if (which == 4)  // among the least
      put(type, at, std::ldexp(small, 1 - form.bias - form.fraction_bits / 2));
    if (which == 5) put(type, at, std::ldexp(1.9L, form.bias));  // among the greatest
    if (which > 5 && which < 9) put(type, at, small);
    if (is_minus) at[form.used_bytes - 1] ^= 0x80;
  }
  static void put(ph_type type, unsigned char* at, long double number) {
    if (type == PH_LONG_DOUBLE)
      put_long_double(at, number);
    else
      put_real(type, at, number);
  }
  // What fills the place up stays anything.
  static void put_long_double(unsigned char* at, long double number) {
    std::memcpy(at, &number, 10);
  }

  std::mt19937 random_;
};

// Each element by itself.
inline Bytes expected(ph_type type, ph_op op, const Bytes& left, const Bytes& right) {
  Bytes all(left.size());
  for (std::size_t at = 0; at < all.size(); at += element_bytes_of(type))
    fold_one(type, op, left.data() + at, right.data() + at, all.data() + at);
  return all;
}

}  // namespace photon::fold::test
