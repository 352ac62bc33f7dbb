// Folds of one element as they are promised (src/fold/fold.hpp), by other means than the library's:
// reals of all widths are numbers of 80 bits here, are told apart by value, and chosen ones are
// copied. And elements to fold, among them all that are special.
#pragma once

#include <photon/atomic.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace photon::fold::test {

using Bytes = std::vector<unsigned char>;

template <class T>
T loaded(const unsigned char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class T>
void stored(unsigned char* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

// A real number's form: bits of the fraction, bias of the exponent, bytes in memory. The explicit
// leading bit of long double counts as none.
struct RealForm {
  int fraction_bits, bias;
  std::size_t bytes, used_bytes;
  std::size_t quiet_byte;
  unsigned char quiet_bit;
};
inline RealForm real_form(ph_type type) {
  switch (type) {
    case PH_HALF: return {10, 15, 2, 2, 1, 0x02};
    case PH_BFLOAT16: return {7, 127, 2, 2, 0, 0x40};
    case PH_FLOAT: return {23, 127, 4, 4, 2, 0x40};
    case PH_DOUBLE: return {52, 1023, 8, 8, 6, 0x08};
    default: return {63, 16383, 16, 10, 7, 0x40};
  }
}

inline long double decoded_short(std::uint16_t bits, const RealForm& form) {
  const int exponents = 1 << (15 - form.fraction_bits);
  const int exponent = (bits & 0x7fff) >> form.fraction_bits;
  const int fraction = bits & ((1 << form.fraction_bits) - 1);
  long double number = 0;
  if (exponent == exponents - 1)
    number = fraction == 0 ? HUGE_VALL : std::numeric_limits<long double>::quiet_NaN();
  else if (exponent == 0)
    number = std::ldexp(static_cast<long double>(fraction), 1 - form.bias - form.fraction_bits);
  else
    number = std::ldexp(static_cast<long double>(fraction + (1 << form.fraction_bits)),
                        exponent - form.bias - form.fraction_bits);
  return (bits & 0x8000) != 0 ? -number : number;
}

// To nearest, ties to even, which is how nearbyint() rounds.
inline std::uint16_t encoded_short(long double number, const RealForm& form) {
  const auto endless = static_cast<std::uint32_t>((1 << (15 - form.fraction_bits)) - 1)
                       << form.fraction_bits;
  const std::uint32_t sign = std::signbit(number) ? 0x8000 : 0;
  if (std::isnan(number)) return static_cast<std::uint16_t>(sign | endless | endless >> 1);
  if (std::isinf(number)) return static_cast<std::uint16_t>(sign | endless);
  if (number == 0) return static_cast<std::uint16_t>(sign);
  const int exponent = std::max(std::ilogb(number), 1 - form.bias);
  const long double places =
      std::nearbyint(std::ldexp(std::fabs(number), form.fraction_bits - exponent));
  const auto bits = (static_cast<std::uint32_t>(exponent + form.bias - 1) << form.fraction_bits) +
                    static_cast<std::uint32_t>(places);
  return static_cast<std::uint16_t>(sign | std::min(bits, endless));
}

inline long double real_at(ph_type type, const unsigned char* at) {
  switch (type) {
    case PH_HALF:
    case PH_BFLOAT16: return decoded_short(loaded<std::uint16_t>(at), real_form(type));
    case PH_FLOAT: return static_cast<long double>(loaded<float>(at));
    case PH_DOUBLE: return static_cast<long double>(loaded<double>(at));
    default: return loaded<long double>(at);
  }
}

inline void put_real(ph_type type, unsigned char* to, long double number) {
  switch (type) {
    case PH_HALF:
    case PH_BFLOAT16: stored(to, encoded_short(number, real_form(type))); return;
    case PH_FLOAT: stored(to, static_cast<float>(number)); return;
    case PH_DOUBLE: stored(to, static_cast<double>(number)); return;
    default: std::memset(to, 0, 16); std::memcpy(to, &number, 10);
  }
}

// A copy; of a NaN with the quiet bit.
inline void chosen_real(ph_type type, unsigned char* to, const unsigned char* from) {
  const RealForm form = real_form(type);
  const bool is_nan = std::isnan(real_at(type, from));
  unsigned char copy[16] = {};
  std::memcpy(copy, from, form.used_bytes);
  if (is_nan) copy[form.quiet_byte] |= form.quiet_bit;
  std::memcpy(to, copy, form.bytes);
}

template <class T>
T reckoned(char verb, T left, T right) {
  return verb == '+' ? left + right : verb == '-' ? left - right : left * right;
}

// The processor's own for float and double; wider for the short ones, of which bfloat16 becomes a
// float before it is rounded once more.
inline void reckon_real(ph_type type, char verb, const unsigned char* left,
                        const unsigned char* right, unsigned char* to) {
  if (std::isnan(real_at(type, left))) return chosen_real(type, to, left);
  if (std::isnan(real_at(type, right))) return chosen_real(type, to, right);
  long double result = reckoned(verb, real_at(type, left), real_at(type, right));
  if (type == PH_DOUBLE) result = reckoned(verb, loaded<double>(left), loaded<double>(right));
  if (type == PH_BFLOAT16)
    result = reckoned(verb, static_cast<float>(real_at(type, left)),
                      static_cast<float>(real_at(type, right)));
  // What is no number is a negative NaN on this architecture.
  if (std::isnan(result)) result = -std::fabs(std::numeric_limits<long double>::quiet_NaN());
  put_real(type, to, result);
}

// -1: left, 1: right, 0: equal.
inline int first_of(bool most, long double left, long double right) {
  if (std::isnan(left) != std::isnan(right)) return std::isnan(left) ? -1 : 1;
  if (left == right || std::isnan(left)) return 0;
  return (left < right) != most ? -1 : 1;
}

inline void extreme_real(ph_type type, bool most, const unsigned char* left,
                         const unsigned char* right, unsigned char* to) {
  const long double a = real_at(type, left), b = real_at(type, right);
  const int first = first_of(most, a, b);
  const bool takes_left = first < 0 || (first == 0 && (std::isnan(a) || std::signbit(a) != most));
  chosen_real(type, to, takes_left ? left : right);
}

inline void fold_complex(ph_type part, ph_op op, const unsigned char* left,
                         const unsigned char* right, unsigned char* to) {
  const std::size_t size = real_form(part).bytes;
  unsigned char results[2][16], products[4][16];
  if (op == PH_OP_ADD) {
    reckon_real(part, '+', left, right, results[0]);
    reckon_real(part, '+', left + size, right + size, results[1]);
  } else {
    reckon_real(part, '*', left, right, products[0]);
    reckon_real(part, '*', left + size, right + size, products[1]);
    reckon_real(part, '*', left, right + size, products[2]);
    reckon_real(part, '*', left + size, right, products[3]);
    reckon_real(part, '-', products[0], products[1], results[0]);
    reckon_real(part, '+', products[2], products[3], results[1]);
  }
  std::memcpy(to, results[0], size);
  std::memcpy(to + size, results[1], size);
}

template <class T>
void fold_integer(ph_op op, const unsigned char* left, const unsigned char* right,
                  unsigned char* to) {
  const T a = loaded<T>(left), b = loaded<T>(right);
  const auto wide_a = static_cast<std::uint64_t>(a), wide_b = static_cast<std::uint64_t>(b);
  std::uint64_t result = 0;
  switch (op) {
    case PH_OP_ADD: result = wide_a + wide_b; break;
    case PH_OP_MULTIPLY: result = wide_a * wide_b; break;
    case PH_OP_MIN: result = static_cast<std::uint64_t>(std::min(a, b)); break;
    case PH_OP_MAX: result = static_cast<std::uint64_t>(std::max(a, b)); break;
    case PH_OP_AND: result = wide_a & wide_b; break;
    case PH_OP_OR: result = wide_a | wide_b; break;
    case PH_OP_XOR: result = wide_a ^ wide_b; break;
    case PH_OP_LOGICAL_AND: result = a != 0 && b != 0; break;
    case PH_OP_LOGICAL_OR: result = a != 0 || b != 0; break;
    case PH_OP_LOGICAL_XOR: result = (a != 0) != (b != 0); break;
    default: break;
  }
  stored(to, static_cast<T>(result));
}

inline void fold_real(ph_type type, ph_op op, const unsigned char* left, const unsigned char* right,
                      unsigned char* to) {
  const bool a = real_at(type, left) != 0, b = real_at(type, right) != 0;
  switch (op) {
    case PH_OP_ADD: return reckon_real(type, '+', left, right, to);
    case PH_OP_MULTIPLY: return reckon_real(type, '*', left, right, to);
    case PH_OP_MIN:
    case PH_OP_MAX: return extreme_real(type, op == PH_OP_MAX, left, right, to);
    case PH_OP_LOGICAL_AND: return put_real(type, to, a && b ? 1 : 0);
    case PH_OP_LOGICAL_OR: return put_real(type, to, a || b ? 1 : 0);
    default: return put_real(type, to, a != b ? 1 : 0);
  }
}

// A value that is an integer has 4 or 8 bytes; the index lies behind the value, the rest is 0.
inline void fold_located(ph_type value, bool most, const unsigned char* left,
                         const unsigned char* right, unsigned char* to) {
  const bool is_real = value == PH_FLOAT || value == PH_DOUBLE;
  const std::size_t size = value == PH_FLOAT || value == PH_INT32 ? 4 : 8;
  const auto number = [&](const unsigned char* at) -> long double {
    if (is_real) return real_at(value, at);
    return size == 4 ? static_cast<long double>(loaded<std::int32_t>(at))
                     : static_cast<long double>(loaded<std::int64_t>(at));
  };
  const auto index = [&](const unsigned char* at) { return loaded<std::int32_t>(at + size); };
  int first = first_of(most, number(left), number(right));
  const bool is_one_place = first == 0 && index(left) == index(right);
  if (first == 0) first = index(left) < index(right) ? -1 : 1;
  const unsigned char* from = first < 0 ? left : right;
  unsigned char result[16] = {};
  if (is_one_place && is_real)
    extreme_real(value, most, left, right, result);
  else if (is_real)
    chosen_real(value, result, from);
  else
    std::memcpy(result, from, size);
  std::memcpy(result + size, from + size, 4);
  std::memcpy(to, result, 2 * size);
}

}  // namespace photon::fold::test
