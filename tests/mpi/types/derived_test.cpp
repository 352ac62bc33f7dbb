// Derived types that are special in one way each.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>
#include <thread>
#include <vector>

#include "interop/mpi/type/layout_builder.hpp"
#include "interop/mpi/type/packed_offsets.hpp"
#include "like_mpi.hpp"
#include "owned.hpp"
#include "random_type.hpp"

namespace photon::mpi::test {

TEST(MpiType, AbsoluteAddressesFromBottom) {
  Types types;
  std::array<double, 4> here{1, 2, 3, 4};
  std::array<int, 3> there{5, 6, 7};
  const Owned absolute([&](MPI_Datatype* type) {
    std::array<MPI_Aint, 2> places{};
    MPI_Get_address(here.data(), &places[0]);
    MPI_Get_address(there.data(), &places[1]);
    const std::array<int, 2> lengths{4, 3};
    const std::array<MPI_Datatype, 2> parts{MPI_DOUBLE, MPI_INT};
    MPI_Type_create_struct(2, lengths.data(), places.data(), parts.data(), type);
  });
  const Layout* const layout = types.find(absolute);
  ASSERT_NE(layout, nullptr);
  EXPECT_EQ(layout->size_bytes, sizeof here + sizeof there);
  std::vector<std::byte> packed(layout->size_bytes);
  const auto copy = [&](const std::byte* from, std::int64_t to, std::size_t bytes) {
    std::memcpy(packed.data() + to, from, bytes);
  };
  EXPECT_EQ(walk(MPI_BOTTOM, {layout, 1}, {&plain_bytes(), packed.size()}, copy), Walked::whole);
  EXPECT_EQ(std::memcmp(packed.data(), here.data(), sizeof here), 0);
  EXPECT_EQ(std::memcmp(packed.data() + sizeof here, there.data(), sizeof there), 0);
}

TEST(MpiType, OffsetsBeforeTheBuffer) {
  Types types;
  const Owned type([](MPI_Datatype* made) {
    const std::array<int, 2> lengths{2, 1}, places{-5, 3};
    MPI_Type_indexed(2, lengths.data(), places.data(), MPI_INT, made);
  });
  const Layout& layout = *types.find(type);
  EXPECT_EQ(layout.first, -20);
  EXPECT_EQ(layout.true_extent, 36);
  EXPECT_EQ(layout.extent, 36);
  ASSERT_EQ(layout.runs.size(), 2u);
  EXPECT_EQ(layout.runs[0].offset, -20);
  EXPECT_EQ(layout.runs[0].bytes, 8u);
  EXPECT_EQ(layout.runs[1].offset, 12);
  EXPECT_EQ(layout.basic, Basic::int32);
  expect_like_mpi(types, type, 3, 1);
}

TEST(MpiType, NoData) {
  Types types;
  const Owned none(contiguous(0, MPI_DOUBLE));
  const Owned wide(resized(none, -8, 64));
  const Owned empty_struct(
      [](MPI_Datatype* type) { MPI_Type_create_struct(0, nullptr, nullptr, nullptr, type); });
  for (MPI_Datatype type : {MPI_Datatype(none), MPI_Datatype(wide), MPI_Datatype(empty_struct)}) {
    const Layout* const layout = types.find(type);
    ASSERT_NE(layout, nullptr);
    EXPECT_EQ(layout->size_bytes, 0u);
    EXPECT_TRUE(layout->runs.empty());
    int visits = 0;
    const auto count = [&](std::byte*, std::int64_t, std::size_t) { ++visits; };
    EXPECT_EQ(walk(nullptr, {layout, 5}, {layout, 5}, count), Walked::whole);
    EXPECT_EQ(walk_elements(nullptr, {layout, 5}, {layout, 5}, count), Walked::whole);
    EXPECT_EQ(visits, 0);
  }
  EXPECT_EQ(types.find(wide)->extent, 64);
}

TEST(MpiType, ContiguousOnesOfAnyDepthAreOneRun) {
  Types types;
  MPI_Datatype type = MPI_DOUBLE;
  for (int level = 0; level < 30; ++level) {
    MPI_Datatype next = MPI_DATATYPE_NULL;
    switch (level % 3) {
      case 0: MPI_Type_contiguous(2, type, &next); break;
      case 1: MPI_Type_vector(2, 1, 1, type, &next); break;
      default: MPI_Type_dup(type, &next);
    }
    if (level != 0) MPI_Type_free(&type);
    type = next;
  }
  const Layout* const layout = types.find(type);
  ASSERT_NE(layout, nullptr);
  EXPECT_TRUE(layout->is_contiguous);
  EXPECT_EQ(layout->runs.size(), 1u);
  EXPECT_EQ(layout->size_bytes, sizeof(double) << 20);
  EXPECT_EQ(layout->basic, Basic::float64);
  MPI_Type_free(&type);
  EXPECT_EQ(types.layouts_count(), 0u);
}

// Each level names the one below it twice: of the deeper one there are too many to look at each.
// MPICH says that two are the same, Open MPI does not.
TEST(MpiType, TypesThatAreNamedTwiceDoNotTakeForEver) {
  Types types;
  for (const int levels : {12, 26}) {
    MPI_Datatype type = MPI_BYTE;
    for (int level = 0; level < levels; ++level) {
      MPI_Datatype next = MPI_DATATYPE_NULL;
      const std::array<int, 2> lengths{1, 1};
      const std::array<MPI_Aint, 2> places{0, MPI_Aint{1} << level};
      const std::array<MPI_Datatype, 2> parts{type, type};
      MPI_Type_create_struct(2, lengths.data(), places.data(), parts.data(), &next);
      if (level != 0) MPI_Type_free(&type);
      type = next;
    }
    const Layout* const layout = types.find(type);
    if (layout != nullptr) {
      EXPECT_TRUE(layout->is_contiguous);
      EXPECT_EQ(layout->size_bytes, std::size_t{1} << levels);
    } else {
      EXPECT_EQ(levels, 26);
      EXPECT_STREQ(types.refusal(type), "it is made of more than 1,048,576 types");
    }
    MPI_Type_free(&type);
  }
}

TEST(MpiType, ExtentsSmallerThanTheData) {
  Types types;
  const Owned four(contiguous(4, MPI_INT));
  const Owned tight(resized(four, 0, 4));
  const Layout& layout = *types.find(tight);
  EXPECT_FALSE(layout.is_contiguous);
  EXPECT_EQ(layout.extent, 4);
  EXPECT_EQ(layout.true_extent, 16);
  expect_like_mpi(types, tight, 3, 1);
}

TEST(MpiType, SubarrayOfFortran) {
  Types types;
  const Owned type([](MPI_Datatype* made) {
    const std::array<int, 2> sizes{5, 4}, lengths{2, 3}, starts{1, 1};
    MPI_Type_create_subarray(2, sizes.data(), lengths.data(), starts.data(), MPI_ORDER_FORTRAN,
                             MPI_DOUBLE, made);
  });
  const Layout& layout = *types.find(type);
  ASSERT_EQ(layout.runs.size(), 3u);
  for (std::size_t column = 0; column < 3; ++column) {
    EXPECT_EQ(layout.runs[column].offset, static_cast<std::int64_t>(8 * (1 + 5 * (1 + column))));
    EXPECT_EQ(layout.runs[column].bytes, 16u);
  }
  EXPECT_EQ(layout.extent, 8 * 5 * 4);
  expect_like_mpi(types, type, 2, 1);
}

TEST(MpiType, CyclicDarray) {
  Types types;
  for (int rank = 0; rank < 6; ++rank) {
    const Owned type([rank](MPI_Datatype* made) {
      const std::array<int, 2> sizes{7, 9}, arguments{2, MPI_DISTRIBUTE_DFLT_DARG};
      const std::array<int, 2> kinds{MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK};
      const std::array<int, 2> processes{2, 3};
      MPI_Type_create_darray(6, rank, 2, sizes.data(), kinds.data(), arguments.data(),
                             processes.data(), MPI_ORDER_C, MPI_DOUBLE, made);
    });
    // Of the rows 0, 1, 4 and 5, or 2, 3 and 6, three columns.
    const Layout& layout = *types.find(type);
    EXPECT_EQ(layout.size_bytes, (rank < 3 ? 4u : 3u) * 3 * 8);
    EXPECT_EQ(layout.first, (rank < 3 ? 0 : 2 * 9 * 8) + rank % 3 * 3 * 8);
    EXPECT_EQ(layout.extent, 7 * 9 * 8);
    expect_like_mpi(types, type, 2, 1);
  }
}

TEST(MpiType, LayoutsGoWithTheirTypes) {
  Types types;
  MPI_Datatype inner = MPI_DATATYPE_NULL, outer = MPI_DATATYPE_NULL, copy = MPI_DATATYPE_NULL;
  MPI_Type_vector(3, 1, 2, MPI_DOUBLE, &inner);
  EXPECT_NE(types.find(inner), nullptr);
  MPI_Type_contiguous(2, inner, &outer);
  EXPECT_NE(types.find(outer), nullptr);
  MPI_Type_dup(outer, &copy);
  EXPECT_EQ(types.layouts_count(), 2u) << "a duplicate has none yet";
  EXPECT_NE(types.find(copy), types.find(outer));
  EXPECT_EQ(types.layouts_count(), 3u);
  MPI_Type_free(&inner);
  EXPECT_EQ(types.find(outer)->size_bytes, 48u);
  MPI_Type_free(&outer);
  EXPECT_EQ(types.find(copy)->size_bytes, 48u);
  MPI_Type_free(&copy);
  EXPECT_EQ(types.layouts_count(), 0u);
}

TEST(MpiType, ThreadsThatAskAtOnceGetTheSame) {
  Types types;
  for (int round = 0; round < 200; ++round) {
    const Owned type(vector(3 + round, 1, 2, MPI_INT));
    std::array<const Layout*, 4> found{};
    std::vector<std::thread> threads;
    for (const Layout*& one : found)
      threads.emplace_back([&types, &type, &one] { one = types.find(type); });
    for (std::thread& thread : threads) thread.join();
    EXPECT_NE(found[0], nullptr);
    for (const Layout* one : found) EXPECT_EQ(one, found[0]);
    EXPECT_EQ(types.layouts_count(), 1u);
  }
}

// The way of types whose constructors are not known here, beside the way of those that are.
TEST(MpiType, WhatMpiPacksSaysWhereBytesLie) {
  Types types;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Drawing drawing(seed);
    DrawnType drawn = drawing.draw(static_cast<unsigned>(seed % 5));
    SCOPED_TRACE(drawn.words);
    const Layout* const layout = types.find(drawn.type);
    ASSERT_NE(layout, nullptr);
    LayoutBuilder builder;
    append_packed(drawn.type, builder);
    const Layout packed = builder.finish(layout->extent);
    EXPECT_EQ(packed.size_bytes, layout->size_bytes);
    EXPECT_EQ(packed.first, layout->first);
    EXPECT_EQ(packed.true_extent, layout->true_extent);
    ASSERT_EQ(packed.runs.size(), layout->runs.size());
    for (std::size_t at = 0; at < packed.runs.size(); ++at) {
      EXPECT_EQ(packed.runs[at].offset, layout->runs[at].offset);
      EXPECT_EQ(packed.runs[at].bytes, layout->runs[at].bytes);
    }
    free_type(drawn);
  }
}

TEST(MpiType, TypesThatAreTooLargeAreRefusedInWords) {
  Types types;
  const Owned pieces(vector(1 << 20, 1, 2, MPI_BYTE));
  EXPECT_NE(types.find(pieces), nullptr);
  const Owned many(vector(64, 1, 2, pieces));
  EXPECT_EQ(types.find(many), nullptr);
  EXPECT_EQ(types.find(many), nullptr);
  EXPECT_STREQ(types.refusal(many), "it has more than 33,554,432 separate runs of bytes");
  const Owned far(
      [](MPI_Datatype* type) { MPI_Type_create_hvector(2, 1, 1 << 29, MPI_INT, type); });
  LayoutBuilder builder;
  EXPECT_THROW(append_packed(far, builder), Refused);
  EXPECT_EQ(types.find(far)->true_extent, (1 << 29) + 4);
}

// The process may have 64 MiB more than it has, and the runs take 256 MiB.
TEST(MpiType, WithoutMemoryThereIsNoLayout) {
  Types types;
  const Owned pieces(vector(1 << 24, 1, 2, MPI_BYTE));
  std::size_t pages = 0;
  ASSERT_TRUE(std::ifstream("/proc/self/statm") >> pages);
  rlimit before{}, tight{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  tight = before;
  tight.rlim_cur = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + (64u << 20);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &tight), 0);
  const Layout* const none = types.find(pieces);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_EQ(none, nullptr);
  EXPECT_STREQ(types.refusal(pieces), "there is no memory for what MPI says of it");
  const Layout* const layout = types.find(pieces);
  ASSERT_NE(layout, nullptr) << "it is refused for good";
  EXPECT_EQ(layout->runs.size(), std::size_t{1} << 24);
}

}  // namespace photon::mpi::test
