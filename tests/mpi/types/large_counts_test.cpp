// Types that were made by the calls of MPI 4 for counts that an int does not hold: what they were
// made of, only such calls say.
#include <gtest/gtest.h>

#include <array>

#include "like_mpi.hpp"
#include "owned.hpp"

namespace photon::mpi::test {

namespace {

// Beside the same type made with ints.
void expect_same(MPI_Datatype large, MPI_Datatype small) {
  Types types;
  const Layout *const one = types.find(large), *const other = types.find(small);
  ASSERT_NE(one, nullptr) << types.refusal(large);
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(one->size_bytes, other->size_bytes);
  EXPECT_EQ(one->extent, other->extent);
  EXPECT_EQ(one->first, other->first);
  EXPECT_EQ(one->basic, other->basic);
  ASSERT_EQ(one->runs.size(), other->runs.size());
  for (std::size_t at = 0; at < one->runs.size(); ++at) {
    EXPECT_EQ(one->runs[at].offset, other->runs[at].offset);
    EXPECT_EQ(one->runs[at].bytes, other->runs[at].bytes);
  }
  expect_like_mpi(types, large, 2, 1);
}

constexpr std::array<int, 2> kLengths{2, 3}, kPlaces{7, 1};
constexpr std::array<MPI_Count, 2> kLargeLengths{2, 3}, kLargePlaces{7, 1};
constexpr std::array<MPI_Count, 2> kLargeBytes{56, 8};
constexpr std::array<MPI_Aint, 2> kBytes{56, 8};

}  // namespace

TEST(MpiType, LargeStrides) {
  const Owned some([](MPI_Datatype* type) { MPI_Type_contiguous_c(5, MPI_INT, type); });
  expect_same(some, Owned(contiguous(5, MPI_INT)));
  const Owned apart([](MPI_Datatype* type) { MPI_Type_vector_c(3, 2, 4, MPI_INT, type); });
  expect_same(apart, Owned(vector(3, 2, 4, MPI_INT)));
  const Owned bytes([](MPI_Datatype* type) { MPI_Type_create_hvector_c(3, 2, 20, MPI_INT, type); });
  expect_same(bytes,
              Owned([](MPI_Datatype* type) { MPI_Type_create_hvector(3, 2, 20, MPI_INT, type); }));
  const Owned wide([](MPI_Datatype* type) { MPI_Type_create_resized_c(MPI_INT, -4, 16, type); });
  expect_same(wide, Owned(resized(MPI_INT, -4, 16)));
}

TEST(MpiType, LargeBlocks) {
  const Owned indexed([](MPI_Datatype* type) {
    MPI_Type_indexed_c(2, kLargeLengths.data(), kLargePlaces.data(), MPI_INT, type);
  });
  expect_same(indexed, Owned([](MPI_Datatype* type) {
                MPI_Type_indexed(2, kLengths.data(), kPlaces.data(), MPI_INT, type);
              }));
  const Owned in_bytes([](MPI_Datatype* type) {
    MPI_Type_create_hindexed_c(2, kLargeLengths.data(), kLargeBytes.data(), MPI_INT, type);
  });
  expect_same(in_bytes, Owned([](MPI_Datatype* type) {
                MPI_Type_create_hindexed(2, kLengths.data(), kBytes.data(), MPI_INT, type);
              }));
  const Owned equal([](MPI_Datatype* type) {
    MPI_Type_create_indexed_block_c(2, 3, kLargePlaces.data(), MPI_INT, type);
  });
  expect_same(equal, Owned([](MPI_Datatype* type) {
                MPI_Type_create_indexed_block(2, 3, kPlaces.data(), MPI_INT, type);
              }));
  const Owned equal_in_bytes([](MPI_Datatype* type) {
    MPI_Type_create_hindexed_block_c(2, 3, kLargeBytes.data(), MPI_INT, type);
  });
  expect_same(equal_in_bytes, Owned([](MPI_Datatype* type) {
                MPI_Type_create_hindexed_block(2, 3, kBytes.data(), MPI_INT, type);
              }));
  const std::array<MPI_Datatype, 2> parts{MPI_INT, MPI_DOUBLE};
  const Owned structure([&](MPI_Datatype* type) {
    MPI_Type_create_struct_c(2, kLargeLengths.data(), kLargeBytes.data(), parts.data(), type);
  });
  expect_same(structure, Owned([&](MPI_Datatype* type) {
                MPI_Type_create_struct(2, kLengths.data(), kBytes.data(), parts.data(), type);
              }));
}

TEST(MpiType, LargeArrays) {
  const std::array<MPI_Count, 2> large_sizes{5, 4}, large_lengths{2, 3}, large_starts{1, 1};
  const std::array<int, 2> sizes{5, 4}, lengths{2, 3}, starts{1, 1};
  const std::array<int, 2> kinds{MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK}, processes{2, 2};
  const std::array<int, 2> arguments{2, MPI_DISTRIBUTE_DFLT_DARG};
  for (const int order : {MPI_ORDER_C, MPI_ORDER_FORTRAN}) {
    const Owned part([&](MPI_Datatype* type) {
      MPI_Type_create_subarray_c(2, large_sizes.data(), large_lengths.data(), large_starts.data(),
                                 order, MPI_INT, type);
    });
    expect_same(part, Owned([&](MPI_Datatype* type) {
                  MPI_Type_create_subarray(2, sizes.data(), lengths.data(), starts.data(), order,
                                           MPI_INT, type);
                }));
    const Owned shared([&](MPI_Datatype* type) {
      MPI_Type_create_darray_c(4, 2, 2, large_sizes.data(), kinds.data(), arguments.data(),
                               processes.data(), order, MPI_INT, type);
    });
    expect_same(shared, Owned([&](MPI_Datatype* type) {
                  MPI_Type_create_darray(4, 2, 2, sizes.data(), kinds.data(), arguments.data(),
                                         processes.data(), order, MPI_INT, type);
                }));
  }
}

TEST(MpiType, CountsThatAnIntDoesNotHold) {
  Types types;
  const Owned five_gigabytes(
      [](MPI_Datatype* type) { MPI_Type_contiguous_c(5'000'000'000, MPI_BYTE, type); });
  const Layout* const layout = types.find(five_gigabytes);
  ASSERT_NE(layout, nullptr) << types.refusal(five_gigabytes);
  EXPECT_TRUE(layout->is_contiguous);
  EXPECT_EQ(layout->size_bytes, 5'000'000'000u);
  EXPECT_EQ(layout->extent, 5'000'000'000);
  const Owned far_apart(
      [&](MPI_Datatype* type) { MPI_Type_vector_c(2, 1, 2, five_gigabytes, type); });
  const Layout* const apart = types.find(far_apart);
  ASSERT_NE(apart, nullptr);
  ASSERT_EQ(apart->runs.size(), 2u);
  EXPECT_EQ(apart->runs[1].offset, 10'000'000'000);
  EXPECT_EQ(apart->size_bytes, 10'000'000'000u);
}

}  // namespace photon::mpi::test
