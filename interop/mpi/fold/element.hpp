// The elements of MPI's basic types and the operations on them, as this library names them: no MPI
// is included here.
#pragma once

#include <cstddef>
#include <cstdint>

namespace photon::mpi {

// What an element is in memory. `none`: no basic type, or one that this library does not compute.
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
  int_int,
  short_int,
  extended_int,
};
inline constexpr std::size_t kBasics = 26;

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

// Of its memory, holes of pairs included; 0 for none.
std::size_t bytes_of(Basic basic) noexcept;
// Whether MPI defines the operation for that type.
bool takes(Op op, Basic basic) noexcept;
// Whether elements of that type that lie at multiples of their size are changed by the processor's
// atomics; the others are changed under a lock.
bool is_atomic(Basic basic) noexcept;

}  // namespace photon::mpi
