#include "like_mpi.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace photon::mpi::test {

namespace {

constexpr std::int64_t kAround = 4096;

}  // namespace

Memory::Memory(Elements elements) {
  const Layout& layout = *elements.layout;
  const auto count = static_cast<std::int64_t>(elements.count);
  const std::int64_t steps = count > 0 ? (count - 1) * layout.extent : 0;
  low_ = layout.first + std::min<std::int64_t>(0, steps) - kAround;
  const std::int64_t high =
      layout.first + layout.true_extent + std::max<std::int64_t>(0, steps) + kAround;
  bytes_.resize(static_cast<std::size_t>(high - low_));
}

void Memory::fill(std::mt19937_64& random) {
  for (auto& byte : bytes_) byte = static_cast<std::uint8_t>(random());
}

const Layout& plain_bytes() {
  static const Layout layout{.basic = Basic::byte,
                             .is_contiguous = true,
                             .element_bytes = 1,
                             .element_extent = 1,
                             .size_bytes = 1,
                             .extent = 1,
                             .first = 0,
                             .true_extent = 1,
                             .runs = {{0, 1}}};
  return layout;
}

std::vector<std::uint8_t> pack_by_mpi(Memory& memory, MPI_Datatype type, std::int64_t count) {
  int room = 0, position = 0;
  EXPECT_EQ(MPI_Pack_size(static_cast<int>(count), type, MPI_COMM_SELF, &room), MPI_SUCCESS);
  std::vector<std::uint8_t> packed(static_cast<std::size_t>(room) + 1);
  EXPECT_EQ(MPI_Pack(memory.begin(), static_cast<int>(count), type, packed.data(), room, &position,
                     MPI_COMM_SELF),
            MPI_SUCCESS);
  packed.resize(static_cast<std::size_t>(position));
  return packed;
}

std::vector<std::uint8_t> pack_by_runs(Memory& memory, Elements elements) {
  std::vector<std::uint8_t> packed(elements.bytes());
  const auto copy = [&](const std::byte* from, std::int64_t to, std::size_t bytes) {
    std::memcpy(packed.data() + to, from, bytes);
  };
  EXPECT_EQ(walk(memory.begin(), elements, {&plain_bytes(), packed.size()}, copy), Walked::whole);
  return packed;
}

void unpack_by_runs(const std::vector<std::uint8_t>& packed, Memory& memory, Elements elements) {
  const auto copy = [&](const std::byte* from, std::int64_t to, std::size_t bytes) {
    std::memcpy(place_at(memory.begin(), to), from, bytes);
  };
  EXPECT_EQ(walk(packed.data(), {&plain_bytes(), packed.size()}, elements, copy), Walked::whole);
}

bool is_overlapping(Memory& memory, Elements elements) {
  std::fill(memory.bytes().begin(), memory.bytes().end(), std::uint8_t{0});
  bool found = false;
  for (Cursor at(elements); at.bytes() != 0; at.advance(1)) {
    std::byte& byte = *place_at(memory.begin(), at.offset());
    found = found || byte != std::byte{0};
    byte = std::byte{1};
  }
  return found;
}

namespace {

void expect_bounds_of_mpi(const Layout& layout, MPI_Datatype type) {
  MPI_Count size = 0;
  MPI_Aint first = 0, span = 0, lower = 0, extent = 0;
  MPI_Type_size_x(type, &size);
  MPI_Type_get_true_extent(type, &first, &span);
  MPI_Type_get_extent(type, &lower, &extent);
  EXPECT_EQ(layout.size_bytes, static_cast<std::size_t>(size));
  EXPECT_EQ(layout.extent, extent);
  if (size == 0) return;
  // MPICH counts the places of parts without data, too.
  EXPECT_GE(layout.first, first);
  EXPECT_LE(layout.first + layout.true_extent, first + span);
}

void expect_rules_kept(const Layout& layout) {
  std::size_t bytes = 0;
  std::int64_t behind = std::numeric_limits<std::int64_t>::min();  // of the run before
  for (const Run& run : layout.runs) {
    EXPECT_GT(run.bytes, 0u);
    EXPECT_NE(run.offset, behind);
    behind = run.offset + static_cast<std::int64_t>(run.bytes);
    bytes += run.bytes;
  }
  EXPECT_EQ(bytes, layout.size_bytes);
  EXPECT_TRUE(!layout.is_contiguous || layout.runs.size() <= 1);
}

}  // namespace

void expect_like_mpi(Types& types, MPI_Datatype type, std::int64_t count, std::uint64_t seed) {
  const Layout* const layout = types.find(type);
  ASSERT_NE(layout, nullptr) << types.refusal(type);
  expect_bounds_of_mpi(*layout, type);
  expect_rules_kept(*layout);
  const Elements elements{layout, static_cast<std::size_t>(count)};
  std::mt19937_64 random(seed);
  Memory memory(elements), other(elements);
  memory.fill(random);
  const auto packed = pack_by_mpi(memory, type, count);
  ASSERT_EQ(packed, pack_by_runs(memory, elements));
  if (is_overlapping(memory, elements)) return;  // no buffer for MPI to unpack into
  memory.fill(random);
  other.bytes() = memory.bytes();
  int position = 0;
  ASSERT_EQ(MPI_Unpack(packed.data(), static_cast<int>(packed.size()), &position, memory.begin(),
                       static_cast<int>(count), type, MPI_COMM_SELF),
            MPI_SUCCESS);
  unpack_by_runs(packed, other, elements);
  EXPECT_EQ(memory.bytes(), other.bytes());
}

}  // namespace photon::mpi::test
