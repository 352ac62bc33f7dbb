// Pieces of two layouts: bytes, and elements for accumulates.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <tuple>
#include <vector>

#include "like_mpi.hpp"
#include "owned.hpp"

namespace photon::mpi::test {

namespace {

using Pieces = std::vector<std::tuple<std::int64_t, std::int64_t, std::size_t>>;

struct Taken {
  Walked walked;
  Pieces pieces;  // offset at the origin, offset at the target, amount
};

Taken take_elements(Elements origin, Elements target) {
  Taken taken{};
  const auto visitor = [&](const std::byte* from, std::int64_t to, std::size_t count) {
    taken.pieces.emplace_back(reinterpret_cast<std::intptr_t>(from), to, count);
  };
  taken.walked = walk_elements(nullptr, origin, target, visitor);
  return taken;
}

}  // namespace

TEST(MpiType, TwoContiguousBuffersAreOnePiece) {
  Types types;
  const Owned eight(contiguous(8, MPI_INT));
  int visits = 0;
  const auto visitor = [&](const std::byte* from, std::int64_t to, std::size_t bytes) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(from), 0u);
    EXPECT_EQ(to, 0);
    EXPECT_EQ(bytes, 320u);
    ++visits;
  };
  EXPECT_EQ(walk(nullptr, {types.find(eight), 10}, {types.find(MPI_DOUBLE), 40}, visitor),
            Walked::whole);
  EXPECT_EQ(visits, 1);
}

TEST(MpiType, AVisitorMayStop) {
  Types types;
  const Owned apart(vector(5, 1, 2, MPI_INT));
  const Elements elements{types.find(apart), 2};
  int visits = 0;
  const auto visitor = [&](std::byte*, std::int64_t, std::size_t) { return ++visits < 3; };
  EXPECT_EQ(walk(nullptr, elements, elements, visitor), Walked::stopped);
  EXPECT_EQ(visits, 3);
  EXPECT_EQ(walk_elements(nullptr, elements, elements, visitor), Walked::stopped);
  EXPECT_EQ(visits, 4);
}

TEST(MpiType, ElementsComeInPieces) {
  Types types;
  const Owned apart(vector(2, 2, 3, MPI_INT));
  const auto taken = take_elements({types.find(MPI_INT), 8}, {types.find(apart), 2});
  EXPECT_EQ(taken.walked, Walked::whole);
  EXPECT_EQ(taken.pieces, (Pieces{{0, 0, 2}, {8, 12, 2}, {16, 20, 2}, {24, 32, 2}}));
}

TEST(MpiType, ElementsOfOtherTypesAreRefused) {
  Types types;
  EXPECT_EQ(take_elements({types.find(MPI_INT), 2}, {types.find(MPI_FLOAT), 2}).walked,
            Walked::cut);
  const Owned mixed([](MPI_Datatype* type) {
    const std::array<int, 2> lengths{1, 1};
    const std::array<MPI_Aint, 2> places{0, 4};
    const std::array<MPI_Datatype, 2> parts{MPI_INT, MPI_FLOAT};
    MPI_Type_create_struct(2, lengths.data(), places.data(), parts.data(), type);
  });
  const Elements elements{types.find(mixed), 2};
  EXPECT_EQ(elements.layout->basic, Basic::none);
  const Taken taken = take_elements(elements, elements);
  EXPECT_EQ(taken.walked, Walked::cut);
  EXPECT_TRUE(taken.pieces.empty());
}

// No type of MPI is like this one, whose second run begins inside an element.
TEST(MpiType, AnElementThatIsCutIsFound) {
  Layout cut{.basic = Basic::int32,
             .element_bytes = 4,
             .element_extent = 4,
             .size_bytes = 8,
             .extent = 12,
             .first = 0,
             .true_extent = 12,
             .runs = {{0, 6}, {10, 2}}};
  EXPECT_EQ(take_elements({&cut, 1}, {&cut, 1}).walked, Walked::cut);
  cut.basic = Basic::double_int;
  cut.element_bytes = 12;
  cut.element_extent = 16;
  EXPECT_EQ(take_elements({&cut, 1}, {&cut, 1}).walked, Walked::cut);
}

// A put leaves the holes of the target's pairs as they are; accumulates take them struct by struct.
TEST(MpiType, PairHoles) {
  Types types;
  for (MPI_Datatype type : {MPI_DOUBLE_INT, MPI_LONG_INT, MPI_SHORT_INT, MPI_LONG_DOUBLE_INT}) {
    const Elements pairs{types.find(type), 5};
    const std::size_t extent = pairs.layout->element_extent;
    ASSERT_GT(extent, pairs.layout->element_bytes);
    std::vector<std::uint8_t> from(5 * extent, 0x11), to(5 * extent, 0x22);
    const auto copy = [&](const std::byte* at, std::int64_t offset, std::size_t bytes) {
      std::memcpy(to.data() + offset, at, bytes);
    };
    EXPECT_EQ(walk(from.data(), pairs, pairs, copy), Walked::whole);
    std::size_t written = 0;
    for (const std::uint8_t byte : to) written += byte == 0x11;
    EXPECT_EQ(written, 5 * pairs.layout->element_bytes);
    for (std::size_t pair = 0; pair < 5; ++pair) {
      const std::size_t hole = type == MPI_SHORT_INT ? sizeof(short) : extent - 1;
      EXPECT_EQ(to[pair * extent + hole], 0x22);
    }
    const Taken taken = take_elements(pairs, pairs);
    EXPECT_EQ(taken.walked, Walked::whole);
    EXPECT_EQ(taken.pieces, (Pieces{{0, 0, 5}}));
  }
}

TEST(MpiType, PairsApartAreElementsApart) {
  Types types;
  const Owned apart(vector(2, 2, 3, MPI_SHORT_INT));
  const Taken taken = take_elements({types.find(MPI_SHORT_INT), 8}, {types.find(apart), 2});
  EXPECT_EQ(taken.walked, Walked::whole);
  EXPECT_EQ(taken.pieces, (Pieces{{0, 0, 2}, {16, 24, 4}, {48, 64, 2}}));
}

// Pairs that lie in each other's holes: none of them is handed out as one of several.
TEST(MpiType, PairsWithoutRoomForHolesComeOneByOne) {
  Types types;
  const Owned tight(resized(MPI_DOUBLE_INT, 0, 12));
  const Owned three(contiguous(3, tight));
  const Layout& layout = *types.find(three);
  EXPECT_TRUE(layout.is_contiguous);
  const Taken taken = take_elements({&layout, 1}, {types.find(MPI_DOUBLE_INT), 3});
  EXPECT_EQ(taken.walked, Walked::whole);
  EXPECT_EQ(taken.pieces, (Pieces{{0, 0, 1}, {12, 16, 1}, {24, 32, 1}}));
}

}  // namespace photon::mpi::test
