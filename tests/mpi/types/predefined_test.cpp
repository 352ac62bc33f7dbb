// Named types and operations: what stands in the tables.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <iostream>
#include <set>

#include "interop/mpi/real/optional_types.hpp"
#include "like_mpi.hpp"
#include "owned.hpp"

namespace photon::mpi::test {

namespace {

template <class First>
struct Pair {
  First first;
  int second;
};

void expect(Types& types, MPI_Datatype type, Basic basic, std::size_t bytes) {
  if (type == MPI_DATATYPE_NULL) return;
  const Layout* const layout = types.find(type);
  ASSERT_NE(layout, nullptr);
  EXPECT_EQ(layout->basic, basic);
  EXPECT_EQ(layout->size_bytes, bytes);
  EXPECT_EQ(layout->element_bytes, basic == Basic::none ? 0 : bytes);
  EXPECT_EQ(layout->element_extent, basic == Basic::none ? 0 : bytes);
  EXPECT_TRUE(layout->is_contiguous);
  expect_like_mpi(types, type, 3, 1);
}

}  // namespace

TEST(MpiType, NumbersOfC) {
  Types types;
  expect(types, MPI_SIGNED_CHAR, Basic::int8, 1);
  expect(types, MPI_SHORT, Basic::int16, 2);
  expect(types, MPI_INT, Basic::int32, 4);
  expect(types, MPI_LONG, Basic::int64, sizeof(long));
  expect(types, MPI_LONG_LONG_INT, Basic::int64, 8);
  expect(types, MPI_LONG_LONG, Basic::int64, 8);
  expect(types, MPI_UNSIGNED_CHAR, Basic::uint8, 1);
  expect(types, MPI_UNSIGNED_SHORT, Basic::uint16, 2);
  expect(types, MPI_UNSIGNED, Basic::uint32, 4);
  expect(types, MPI_UNSIGNED_LONG, Basic::uint64, sizeof(long));
  expect(types, MPI_UNSIGNED_LONG_LONG, Basic::uint64, 8);
  expect(types, MPI_INT8_T, Basic::int8, 1);
  expect(types, MPI_INT16_T, Basic::int16, 2);
  expect(types, MPI_INT32_T, Basic::int32, 4);
  expect(types, MPI_INT64_T, Basic::int64, 8);
  expect(types, MPI_UINT8_T, Basic::uint8, 1);
  expect(types, MPI_UINT16_T, Basic::uint16, 2);
  expect(types, MPI_UINT32_T, Basic::uint32, 4);
  expect(types, MPI_UINT64_T, Basic::uint64, 8);
  expect(types, MPI_FLOAT, Basic::float32, 4);
  expect(types, MPI_DOUBLE, Basic::float64, 8);
  expect(types, MPI_AINT, Basic::int64, 8);
  expect(types, MPI_OFFSET, Basic::int64, 8);
  expect(types, MPI_COUNT, Basic::int64, 8);
}

TEST(MpiType, OtherTypesOfCAndTypesOfCpp) {
  Types types;
  expect(types, MPI_CHAR, Basic::opaque8, 1);
  expect(types, MPI_WCHAR, Basic::opaque32, 4);
  expect(types, MPI_BYTE, Basic::byte, 1);
  expect(types, MPI_PACKED, Basic::opaque8, 1);
  expect(types, MPI_C_BOOL, Basic::logical8, 1);
  expect(types, MPI_C_COMPLEX, Basic::complex32, 8);
  expect(types, MPI_C_FLOAT_COMPLEX, Basic::complex32, 8);
  expect(types, MPI_C_DOUBLE_COMPLEX, Basic::complex64, 16);
  expect(types, MPI_CXX_BOOL, Basic::logical8, 1);
  expect(types, MPI_CXX_FLOAT_COMPLEX, Basic::complex32, 8);
  expect(types, MPI_CXX_DOUBLE_COMPLEX, Basic::complex64, 16);
  EXPECT_EQ(types.find(MPI_LONG_DOUBLE)->basic, Basic::extended);
  EXPECT_EQ(types.find(MPI_LONG_DOUBLE)->size_bytes, sizeof(long double));
  EXPECT_EQ(types.find(MPI_C_LONG_DOUBLE_COMPLEX)->basic, Basic::complex_extended);
  EXPECT_EQ(types.find(MPI_C_LONG_DOUBLE_COMPLEX)->size_bytes, 2 * sizeof(long double));
}

TEST(MpiType, TypesOfFortran) {
  Types types;
  expect(types, MPI_INTEGER, Basic::int32, 4);
  expect(types, MPI_INTEGER1, Basic::int8, 1);
  expect(types, MPI_INTEGER2, Basic::int16, 2);
  expect(types, MPI_INTEGER4, Basic::int32, 4);
  expect(types, MPI_INTEGER8, Basic::int64, 8);
  expect(types, MPI_REAL, Basic::float32, 4);
  expect(types, MPI_REAL4, Basic::float32, 4);
  expect(types, MPI_REAL8, Basic::float64, 8);
  expect(types, MPI_DOUBLE_PRECISION, Basic::float64, 8);
  expect(types, MPI_COMPLEX, Basic::complex32, 8);
  expect(types, MPI_COMPLEX8, Basic::complex32, 8);
  expect(types, MPI_COMPLEX16, Basic::complex64, 16);
  expect(types, MPI_DOUBLE_COMPLEX, Basic::complex64, 16);
  expect(types, MPI_CHARACTER, Basic::opaque8, 1);
  expect(types, MPI_LOGICAL, Basic::logical32, 4);
  expect(types, MPI_LOGICAL1, Basic::logical8, 1);
  expect(types, MPI_LOGICAL2, Basic::none, 2);
  expect(types, MPI_LOGICAL4, Basic::logical32, 4);
  expect(types, MPI_LOGICAL8, Basic::none, 8);
  expect(types, MPI_2INTEGER, Basic::int_int, 8);
  expect(types, MPI_2REAL, Basic::none, 8);
  expect(types, MPI_2DOUBLE_PRECISION, Basic::none, 16);
  const Layout* const quad = types.find(MPI_REAL16);  // not every MPI has it
  EXPECT_TRUE(quad == nullptr || quad->basic == Basic::none);
}

TEST(MpiType, TypesOfFortranByPrecision) {
  Types types;
  MPI_Datatype real = MPI_DATATYPE_NULL, complex = MPI_DATATYPE_NULL, whole = MPI_DATATYPE_NULL;
  ASSERT_EQ(MPI_Type_create_f90_real(12, MPI_UNDEFINED, &real), MPI_SUCCESS);
  ASSERT_EQ(MPI_Type_create_f90_complex(5, MPI_UNDEFINED, &complex), MPI_SUCCESS);
  ASSERT_EQ(MPI_Type_create_f90_integer(8, &whole), MPI_SUCCESS);
  EXPECT_EQ(types.find(real)->basic, Basic::float64);
  EXPECT_EQ(types.find(complex)->basic, Basic::complex32);
  EXPECT_EQ(types.find(whole)->basic, Basic::int32);
  const Owned three(contiguous(3, real));
  EXPECT_EQ(types.find(three)->basic, Basic::float64);
  expect_like_mpi(types, three, 2, 1);
}

TEST(MpiType, Pairs) {
  Types types;
  struct Named {
    MPI_Datatype type;
    Basic basic;
    std::size_t first_bytes, second_offset, extent;
  };
  const Named all[] = {
      {MPI_FLOAT_INT, Basic::float_int, 4, offsetof(Pair<float>, second), sizeof(Pair<float>)},
      {MPI_DOUBLE_INT, Basic::double_int, 8, offsetof(Pair<double>, second), sizeof(Pair<double>)},
      {MPI_LONG_INT, Basic::long_int, 8, offsetof(Pair<long>, second), sizeof(Pair<long>)},
      {MPI_2INT, Basic::int_int, 4, offsetof(Pair<int>, second), sizeof(Pair<int>)},
      {MPI_SHORT_INT, Basic::short_int, 2, offsetof(Pair<short>, second), sizeof(Pair<short>)},
      {MPI_LONG_DOUBLE_INT, Basic::extended_int, 16, offsetof(Pair<long double>, second),
       sizeof(Pair<long double>)},
  };
  for (const Named& named : all) {
    const Layout& layout = *types.find(named.type);
    EXPECT_EQ(layout.basic, named.basic);
    EXPECT_EQ(layout.size_bytes, named.first_bytes + sizeof(int));
    EXPECT_EQ(layout.element_bytes, layout.size_bytes);
    EXPECT_EQ(layout.element_extent, named.extent);
    EXPECT_EQ(layout.extent, static_cast<std::int64_t>(named.extent));
    EXPECT_EQ(layout.is_contiguous, layout.size_bytes == named.extent);
    EXPECT_EQ(layout.runs.size(), named.first_bytes == named.second_offset ? 1u : 2u);
    if (named.basic != Basic::extended_int) expect_like_mpi(types, named.type, 3, 7);
  }
}

TEST(MpiType, NullIsNoType) {
  Types types;
  EXPECT_EQ(types.find(MPI_DATATYPE_NULL), nullptr);
  EXPECT_STREQ(types.refusal(MPI_DATATYPE_NULL), "it is no type");
}

TEST(MpiType, Operations) {
  const std::pair<MPI_Op, Op> all[] = {
      {MPI_SUM, Op::sum},         {MPI_PROD, Op::prod},     {MPI_MIN, Op::min},
      {MPI_MAX, Op::max},         {MPI_LAND, Op::land},     {MPI_LOR, Op::lor},
      {MPI_LXOR, Op::lxor},       {MPI_BAND, Op::band},     {MPI_BOR, Op::bor},
      {MPI_BXOR, Op::bxor},       {MPI_MINLOC, Op::minloc}, {MPI_MAXLOC, Op::maxloc},
      {MPI_REPLACE, Op::replace}, {MPI_NO_OP, Op::no_op},
  };
  std::set<Op> ours;
  for (const auto& [handle, op] : all) {
    EXPECT_EQ(op_of(handle), op);
    ours.insert(op);
  }
  EXPECT_EQ(ours.size() + 1, kOps);
  EXPECT_EQ(op_of(MPI_OP_NULL), Op::none);
  MPI_Op own = MPI_OP_NULL;
  MPI_Op_create([](void*, void*, int*, MPI_Datatype*) {}, 1, &own);
  EXPECT_EQ(op_of(own), Op::none);
  MPI_Op_free(&own);
}

// Prints what a lookup takes.
TEST(MpiType, LookupsGiveTheSameLayoutEachTime) {
  Types types;
  const Owned derived(vector(3, 1, 2, MPI_DOUBLE));
  const auto measure = [&](const char* name, MPI_Datatype type) {
    constexpr int kTimes = 1'000'000;
    const Layout* const layout = types.find(type);
    int others = 0;
    const auto begin = std::chrono::steady_clock::now();
    for (int time = 0; time < kTimes; ++time) others += types.find(type) != layout;
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    EXPECT_EQ(others, 0);
    std::cout << name << ": " << took.count() / kTimes << " ns a lookup\n";
  };
  measure("MPI_DOUBLE", MPI_DOUBLE);
  measure("MPI_LONG_DOUBLE_INT", MPI_LONG_DOUBLE_INT);
  measure("a derived type", derived);
}

}  // namespace photon::mpi::test
