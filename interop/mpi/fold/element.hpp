// The elements of MPI's basic types, the predefined operations on them, and which go together, as
// this library names them: no MPI is included here.
//
// A number that stands for several types of MPI takes what any of them does: int32 takes logical
// operations as MPI_INT does, although MPI defines none for MPI_INTEGER and MPI_AINT.
// Invariant: the numbers travel between hosts, so a function here may be given any, also one that
// names nothing. Owner: none; pure functions. Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>

namespace photon::mpi {

// This names what an element is in memory. `none` stands for no basic type, and for those that this
// library does not compute.
enum class Basic : std::uint8_t {
  none,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float32,
  float64,
  extended,   // long double
  complex32,  // two floats
  complex64,  // two doubles
  complex_extended,
  logical8,   // C's _Bool, C++'s bool
  logical32,  // Fortran's
  byte,       // MPI_BYTE: bitwise operations alone
  opaque8,    // characters, MPI_PACKED: MPI_REPLACE and MPI_NO_OP alone
  opaque32,   // wide characters
  float_int,  // pairs, as C lays them out
  double_int,
  long_int,
  int_int,  // and MPI_2INTEGER
  short_int,
  extended_int,
  float_float,    // MPI_2REAL
  double_double,  // MPI_2DOUBLE_PRECISION
};
inline constexpr std::size_t kBasics = 28;

enum class Op : std::uint8_t {
  none,  // no predefined operation
  sum,
  prod,
  min,
  max,
  land,
  lor,
  lxor,
  band,
  bor,
  bxor,
  minloc,
  maxloc,
  replace,
  no_op,
};
inline constexpr std::size_t kOps = 15;

enum class Family : std::uint8_t { none, integer, real, complex, logical, bits, opaque, pair };

constexpr Family family_of(Basic basic) noexcept {
  switch (basic) {
    case Basic::int8:
    case Basic::int16:
    case Basic::int32:
    case Basic::int64:
    case Basic::uint8:
    case Basic::uint16:
    case Basic::uint32:
    case Basic::uint64: return Family::integer;
    case Basic::float32:
    case Basic::float64:
    case Basic::extended: return Family::real;
    case Basic::complex32:
    case Basic::complex64:
    case Basic::complex_extended: return Family::complex;
    case Basic::logical8:
    case Basic::logical32: return Family::logical;
    case Basic::byte: return Family::bits;
    case Basic::opaque8:
    case Basic::opaque32: return Family::opaque;
    case Basic::float_int:
    case Basic::double_int:
    case Basic::long_int:
    case Basic::int_int:
    case Basic::short_int:
    case Basic::extended_int:
    case Basic::float_float:
    case Basic::double_double: return Family::pair;
    case Basic::none: break;
  }
  return Family::none;
}

// This is the size of an element's memory, with the holes of pairs; 0 for `none`.
constexpr std::size_t bytes_of(Basic basic) noexcept {
  constexpr std::uint8_t kBytes[kBasics] = {0,  1, 2, 4, 8, 1, 2, 4,  8,  4, 8, 16, 8, 16,
                                            32, 1, 4, 1, 1, 4, 8, 16, 16, 8, 8, 32, 8, 16};
  const auto number = static_cast<std::size_t>(basic);
  return number < kBasics ? kBytes[number] : 0;
}

// This tells whether MPI defines the operation for that type (MPI 4.1, 6.9.2, 6.9.4 and 12.3.4).
constexpr bool takes(Op op, Basic basic) noexcept {
  const Family family = family_of(basic);
  switch (op) {
    case Op::sum:
    case Op::prod:
      return family == Family::integer || family == Family::real || family == Family::complex;
    case Op::min:
    case Op::max: return family == Family::integer || family == Family::real;
    case Op::land:
    case Op::lor:
    case Op::lxor: return family == Family::integer || family == Family::logical;
    case Op::band:
    case Op::bor:
    case Op::bxor: return family == Family::integer || family == Family::bits;
    case Op::minloc:
    case Op::maxloc: return family == Family::pair;
    case Op::replace:
    case Op::no_op: return family != Family::none;
    case Op::none: break;
  }
  return false;
}

// This tells whether MPI defines MPI_Compare_and_swap for that type.
constexpr bool takes_swap(Basic basic) noexcept {
  const Family family = family_of(basic);
  return family == Family::integer || family == Family::logical || family == Family::bits;
}

// This tells whether elements of that type that lie at multiples of their size are changed by the
// processor's atomics; the others are changed under a lock. complex32 is: its 8 bytes are changed
// at once, where they lie at a multiple of 8 (a float's alignment is not enough). No pair is, of
// whatever size.
constexpr bool is_atomic(Basic basic) noexcept {
  const Family family = family_of(basic);
  return family != Family::none && family != Family::pair && bytes_of(basic) <= 8;
}

}  // namespace photon::mpi
