#include "interop/mpi/type/predefined.hpp"

#include <cwchar>
#include <utility>
#include <vector>

#include "interop/mpi/real/optional_types.hpp"
#include "interop/mpi/type/layout_builder.hpp"
#include "interop/mpi/type/packed_offsets.hpp"

namespace photon::mpi {

namespace {

// This is what a name says. The size is asked for, since it is the platform's for most.
enum class Kind {
  integer,
  natural,  // integers without sign
  real,
  long_real,
  complex,
  long_complex,
  logical,
  byte,
  character,
  wide,
  float_int,
  double_int,
  long_int,
  int_int,
  short_int,
  long_double_int,
  other,
};

template <class First>
struct Pair {
  First first;
  int second;
};

template <class First>
constexpr std::int64_t offset_of_second() {
  return offsetof(Pair<First>, second);
}

Basic of_integer(std::size_t size) noexcept {
  switch (size) {
    case 1: return Basic::int8;
    case 2: return Basic::int16;
    case 4: return Basic::int32;
    case 8: return Basic::int64;
    default: return Basic::none;
  }
}

Basic of_natural(std::size_t size) noexcept {
  switch (size) {
    case 1: return Basic::uint8;
    case 2: return Basic::uint16;
    case 4: return Basic::uint32;
    case 8: return Basic::uint64;
    default: return Basic::none;
  }
}

// Such a type has one run. Fortran's REAL(16) is not C's long double, though it has its size.
Basic basic_of(Kind kind, std::size_t size) noexcept {
  switch (kind) {
    case Kind::integer: return of_integer(size);
    case Kind::natural: return of_natural(size);
    case Kind::real: return size == 4 ? Basic::float32 : size == 8 ? Basic::float64 : Basic::none;
    case Kind::long_real: return size == sizeof(long double) ? Basic::extended : Basic::none;
    case Kind::complex:
      return size == 8 ? Basic::complex32 : size == 16 ? Basic::complex64 : Basic::none;
    case Kind::long_complex:
      return size == 2 * sizeof(long double) ? Basic::complex_extended : Basic::none;
    case Kind::logical:
      return size == 1 ? Basic::logical8 : size == 4 ? Basic::logical32 : Basic::none;
    case Kind::byte: return Basic::byte;
    case Kind::character: return Basic::opaque8;
    case Kind::wide: return size == 4 ? Basic::opaque32 : Basic::none;
    default: return Basic::none;
  }
}

std::size_t size_of(MPI_Datatype type) noexcept {
  MPI_Count size = 0;
  if (real().Type_size_x(type, &size) != MPI_SUCCESS || size < 0) return 0;
  return static_cast<std::size_t>(size);
}

std::int64_t extent_of(MPI_Datatype type) noexcept {
  MPI_Aint lower = 0, extent = 0;
  if (real().Type_get_extent(type, &lower, &extent) != MPI_SUCCESS) return 0;
  return extent;
}

Layout one_run(MPI_Datatype type, Basic basic) {
  const std::size_t size = size_of(type);
  LayoutBuilder builder;
  builder.append({0, size});
  builder.meet({.basic = basic,
                .element_bytes = basic == Basic::none ? 0 : size,
                .element_extent = basic == Basic::none ? 0 : size,
                .size_bytes = size});
  return builder.finish(extent_of(type));
}

template <class First>
Layout pair(MPI_Datatype type, Basic basic) {
  constexpr std::size_t kBytes = sizeof(First) + sizeof(int);
  // Or else this MPI has another struct in mind.
  if (size_of(type) != kBytes || extent_of(type) != sizeof(Pair<First>)) basic = Basic::none;
  LayoutBuilder builder;
  builder.append({0, sizeof(First)});
  builder.append({offset_of_second<First>(), sizeof(int)});
  builder.meet({.basic = basic,
                .element_bytes = basic == Basic::none ? 0 : kBytes,
                .element_extent = basic == Basic::none ? 0 : sizeof(Pair<First>),
                .size_bytes = kBytes});
  return builder.finish(extent_of(type));
}

Layout layout_of(MPI_Datatype type, Kind kind) {
  switch (kind) {
    case Kind::float_int: return pair<float>(type, Basic::float_int);
    case Kind::double_int: return pair<double>(type, Basic::double_int);
    case Kind::long_int: return pair<long>(type, Basic::long_int);
    case Kind::int_int: return pair<int>(type, Basic::int_int);
    case Kind::short_int: return pair<short>(type, Basic::short_int);
    case Kind::long_double_int: return pair<long double>(type, Basic::extended_int);
    default: return one_run(type, basic_of(kind, size_of(type)));
  }
}

struct Named {
  MPI_Datatype type;
  Kind kind;
};

void add_of_c(std::vector<Named>& all) {
  all.insert(all.end(), {
                            {MPI_CHAR, Kind::character},
                            {MPI_SIGNED_CHAR, Kind::integer},
                            {MPI_UNSIGNED_CHAR, Kind::natural},
                            {MPI_WCHAR, Kind::wide},
                            {MPI_BYTE, Kind::byte},
                            {MPI_PACKED, Kind::character},
                            {MPI_SHORT, Kind::integer},
                            {MPI_UNSIGNED_SHORT, Kind::natural},
                            {MPI_INT, Kind::integer},
                            {MPI_UNSIGNED, Kind::natural},
                            {MPI_LONG, Kind::integer},
                            {MPI_UNSIGNED_LONG, Kind::natural},
                            {MPI_LONG_LONG_INT, Kind::integer},
                            {MPI_UNSIGNED_LONG_LONG, Kind::natural},
                            {MPI_INT8_T, Kind::integer},
                            {MPI_INT16_T, Kind::integer},
                            {MPI_INT32_T, Kind::integer},
                            {MPI_INT64_T, Kind::integer},
                            {MPI_UINT8_T, Kind::natural},
                            {MPI_UINT16_T, Kind::natural},
                            {MPI_UINT32_T, Kind::natural},
                            {MPI_UINT64_T, Kind::natural},
                            {MPI_AINT, Kind::integer},
                            {MPI_OFFSET, Kind::integer},
                            {MPI_COUNT, Kind::integer},
                            {MPI_FLOAT, Kind::real},
                            {MPI_DOUBLE, Kind::real},
                            {MPI_LONG_DOUBLE, Kind::long_real},
                            {MPI_C_BOOL, Kind::logical},
                            {MPI_C_FLOAT_COMPLEX, Kind::complex},
                            {MPI_C_DOUBLE_COMPLEX, Kind::complex},
                            {MPI_C_LONG_DOUBLE_COMPLEX, Kind::long_complex},
                            {MPI_CXX_BOOL, Kind::logical},
                            {MPI_CXX_FLOAT_COMPLEX, Kind::complex},
                            {MPI_CXX_DOUBLE_COMPLEX, Kind::complex},
                            {MPI_CXX_LONG_DOUBLE_COMPLEX, Kind::long_complex},
                            {MPI_FLOAT_INT, Kind::float_int},
                            {MPI_DOUBLE_INT, Kind::double_int},
                            {MPI_LONG_INT, Kind::long_int},
                            {MPI_2INT, Kind::int_int},
                            {MPI_SHORT_INT, Kind::short_int},
                            {MPI_LONG_DOUBLE_INT, Kind::long_double_int},
                        });
}

// Pairs of two INTEGER are C's of two ints; pairs of two REAL have no basic type of ours.
void add_of_fortran(std::vector<Named>& all) {
  all.insert(all.end(), {
                            {MPI_CHARACTER, Kind::character},
                            {MPI_INTEGER, Kind::integer},
                            {MPI_INTEGER1, Kind::integer},
                            {MPI_INTEGER2, Kind::integer},
                            {MPI_INTEGER4, Kind::integer},
                            {MPI_INTEGER8, Kind::integer},
                            {MPI_INTEGER16, Kind::integer},
                            {MPI_LOGICAL, Kind::logical},
                            {MPI_LOGICAL1, Kind::logical},
                            {MPI_LOGICAL2, Kind::logical},
                            {MPI_LOGICAL4, Kind::logical},
                            {MPI_LOGICAL8, Kind::logical},
                            {MPI_REAL, Kind::real},
                            {MPI_REAL2, Kind::real},
                            {MPI_REAL4, Kind::real},
                            {MPI_REAL8, Kind::real},
                            {MPI_REAL16, Kind::real},
                            {MPI_DOUBLE_PRECISION, Kind::real},
                            {MPI_COMPLEX, Kind::complex},
                            {MPI_COMPLEX4, Kind::complex},
                            {MPI_COMPLEX8, Kind::complex},
                            {MPI_COMPLEX16, Kind::complex},
                            {MPI_COMPLEX32, Kind::complex},
                            {MPI_DOUBLE_COMPLEX, Kind::complex},
                            {MPI_2INTEGER, Kind::int_int},
                            {MPI_2REAL, Kind::other},
                            {MPI_2DOUBLE_PRECISION, Kind::other},
                            {MPI_2COMPLEX, Kind::other},
                            {MPI_2DOUBLE_COMPLEX, Kind::other},
                        });
}

}  // namespace

Predefined::Predefined() {
  std::vector<Named> all;
  add_of_c(all);
  add_of_fortran(all);
  add(bits_of(MPI_DATATYPE_NULL), nullptr);
  for (const Named& named : all) {
    if (named.type == MPI_DATATYPE_NULL || bits_of(named.type) == 0) continue;
    if (find(named.type) != nullptr) continue;  // a second name of one that is in
    layouts_.push_back(layout_of(named.type, named.kind));
    add(bits_of(named.type), &layouts_.back());
  }
}

void Predefined::add(std::uintptr_t bits, const Layout* layout) {
  std::size_t place = place_of(bits);
  while (entries_[place].bits != 0) place = (place + 1) % kPlaces;
  entries_[place] = {bits, layout};
}

Layout layout_of_f90(MPI_Datatype type, int combiner) {
  const Kind kind = combiner == MPI_COMBINER_F90_INTEGER ? Kind::integer
                    : combiner == MPI_COMBINER_F90_REAL  ? Kind::real
                                                         : Kind::complex;
  return one_run(type, basic_of(kind, size_of(type)));
}

Layout layout_of_unknown(MPI_Datatype type) {
  LayoutBuilder builder;
  append_packed(type, builder);
  return builder.finish(extent_of(type));
}

}  // namespace photon::mpi
