// All operations and basic types, their names, and elements to fold, among them all that are
// special.
#pragma once

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "interop/mpi/fold/element.hpp"

namespace photon::mpi::test {

using Bytes = std::vector<unsigned char>;

inline constexpr std::array<const char*, kBasics> kBasicNames = {
    "none",         "int8",        "int16",        "int32",     "int64",
    "uint8",        "uint16",      "uint32",       "uint64",    "float32",
    "float64",      "extended",    "complex32",    "complex64", "complex_extended",
    "logical8",     "logical32",   "byte",         "opaque8",   "opaque32",
    "float_int",    "double_int",  "long_int",     "int_int",   "short_int",
    "extended_int", "float_float", "double_double"};
inline constexpr std::array<const char*, kOps> kOpNames = {
    "none", "sum", "prod", "min",    "max",    "land",    "lor",  "lxor",
    "band", "bor", "bxor", "minloc", "maxloc", "replace", "no_op"};

inline std::string name_of(Op op, Basic basic) {
  return std::string(kOpNames[static_cast<std::size_t>(op)]) + " of " +
         kBasicNames[static_cast<std::size_t>(basic)];
}
inline std::vector<Basic> all_basics() {
  std::vector<Basic> all;
  for (std::size_t number = 0; number < kBasics; ++number)
    all.push_back(static_cast<Basic>(number));
  return all;
}
inline std::vector<Op> all_ops() {
  std::vector<Op> all;
  for (std::size_t number = 0; number < kOps; ++number) all.push_back(static_cast<Op>(number));
  return all;
}

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

template <class T, class Index>
struct Pair {
  T value;
  Index index;
};

// Calls body.template operator()<T>() with the type of C that the elements have; with int8_t to
// uint64_t for all that are integers, logical or bits.
template <class Body>
void with_type(Basic basic, Body body) {
  switch (basic) {
    case Basic::none: return;
    case Basic::int8: return body.template operator()<std::int8_t>();
    case Basic::int16: return body.template operator()<std::int16_t>();
    case Basic::int32: return body.template operator()<std::int32_t>();
    case Basic::int64: return body.template operator()<std::int64_t>();
    case Basic::logical8:
    case Basic::byte:
    case Basic::opaque8:
    case Basic::uint8: return body.template operator()<std::uint8_t>();
    case Basic::uint16: return body.template operator()<std::uint16_t>();
    case Basic::logical32:
    case Basic::opaque32:
    case Basic::uint32: return body.template operator()<std::uint32_t>();
    case Basic::uint64: return body.template operator()<std::uint64_t>();
    case Basic::float32: return body.template operator()<float>();
    case Basic::float64: return body.template operator()<double>();
    case Basic::extended: return body.template operator()<long double>();
    case Basic::complex32: return body.template operator()<std::complex<float>>();
    case Basic::complex64: return body.template operator()<std::complex<double>>();
    case Basic::complex_extended: return body.template operator()<std::complex<long double>>();
    case Basic::float_int: return body.template operator()<Pair<float, int>>();
    case Basic::double_int: return body.template operator()<Pair<double, int>>();
    case Basic::long_int: return body.template operator()<Pair<long, int>>();
    case Basic::int_int: return body.template operator()<Pair<int, int>>();
    case Basic::short_int: return body.template operator()<Pair<short, int>>();
    case Basic::extended_int: return body.template operator()<Pair<long double, int>>();
    case Basic::float_float: return body.template operator()<Pair<float, float>>();
    case Basic::double_double: return body.template operator()<Pair<double, double>>();
  }
}

// What a byte of an element is: of its value; of a hole between or behind the parts of a pair; or
// it fills the place of a long double up, and nobody minds it.
enum class Part : std::uint8_t { value, hole, filling };
inline std::vector<Part> parts_of(Basic basic) {
  std::vector<Part> parts(bytes_of(basic), Part::value);
  const auto mark = [&](std::size_t begin, std::size_t end, Part part) {
    for (std::size_t i = begin; i < end; ++i) parts[i] = part;
  };
  switch (basic) {
    case Basic::extended_int: mark(20, 32, Part::hole); [[fallthrough]];
    case Basic::extended: mark(10, 16, Part::filling); break;
    case Basic::complex_extended:
      mark(10, 16, Part::filling);
      mark(26, 32, Part::filling);
      break;
    case Basic::double_int:
    case Basic::long_int: mark(12, 16, Part::hole); break;
    case Basic::short_int: mark(2, 4, Part::hole); break;
    default: break;
  }
  return parts;
}

class Elements {
 public:
  explicit Elements(unsigned seed) : random_(seed) {}

  // So many, and garbage in all holes.
  Bytes draw(Basic basic, std::size_t count) {
    const std::size_t size = bytes_of(basic);
    Bytes all(count * size);
    for (unsigned char& byte : all) byte = static_cast<unsigned char>(random_());
    for (std::size_t i = 0; i < count; ++i) draw_into(basic, &all[i * size]);
    return all;
  }

 private:
  void draw_into(Basic basic, unsigned char* at) {
    with_type(basic, [&]<class T>() { draw_as(at, static_cast<T*>(nullptr)); });
    if (family_of(basic) != Family::logical || random_() % 2 == 0) return;
    std::fill(at, at + bytes_of(basic), static_cast<unsigned char>(0));
    *at = random_() % 2 == 0 ? 1 : 0;
  }
  template <std::integral T>
  T number(T*) {
    constexpr T kSpecial[] = {
        0, 1, 2, std::numeric_limits<T>::max(), std::numeric_limits<T>::min(), static_cast<T>(-1)};
    const auto choice = random_() % 12;
    return choice < std::size(kSpecial) ? kSpecial[choice] : static_cast<T>(random_());
  }
  template <std::floating_point T>
  T number(T*) {
    using Limits = std::numeric_limits<T>;
    constexpr T kSpecial[] = {0,
                              -T{0},
                              1,
                              -1,
                              Limits::infinity(),
                              -Limits::infinity(),
                              Limits::quiet_NaN(),
                              -Limits::quiet_NaN(),
                              Limits::denorm_min(),
                              Limits::max(),
                              Limits::lowest()};
    const auto choice = random_() % 22;
    return choice < std::size(kSpecial) ? kSpecial[choice] : finite(static_cast<T*>(nullptr));
  }
  template <class T>
  T finite(T*) {
    return static_cast<T>(static_cast<int>(random_() % 20'001) - 10'000) / 7;
  }
  template <class T>
  void draw_as(unsigned char* at, T*) {
    put(at, number(static_cast<T*>(nullptr)));
  }
  // std::complex has the tests of Annex G, so there are no infinite ones.
  template <class T>
  void draw_as(unsigned char* at, std::complex<T>*) {
    put(at, finite(static_cast<T*>(nullptr)));
    put(at + sizeof(T), finite(static_cast<T*>(nullptr)));
  }
  // Many values are equal, and so are some indexes.
  template <class T, class Index>
  void draw_as(unsigned char* at, Pair<T, Index>*) {
    T value = static_cast<T>(static_cast<int>(random_() % 5) - 2);
    if constexpr (std::is_floating_point_v<T>)
      if (random_() % 4 == 0) value = number(static_cast<T*>(nullptr));
    put(at, value);
    constexpr std::size_t kIndexAt = std::max(sizeof(T), sizeof(Index));
    put(at + kIndexAt, static_cast<Index>(static_cast<int>(random_() % 7) - 3));
  }
  template <class T>
  static void put(unsigned char* at, T value) {
    std::memcpy(at, &value, sizeof value == 16 ? 10 : sizeof value);  // of a long double its value
  }

  std::mt19937_64 random_;
};

}  // namespace photon::mpi::test
