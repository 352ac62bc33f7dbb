// Types that a seed draws, beside MPI_Pack and MPI_Unpack.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>

#include "like_mpi.hpp"
#include "random_type.hpp"

namespace photon::mpi::test {

namespace {

// PHOTON_TEST_TYPE_SEED: one seed alone.
std::uint64_t first_seed() {
  const char* const text = std::getenv("PHOTON_TEST_TYPE_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 0;
}
bool is_one_seed() { return std::getenv("PHOTON_TEST_TYPE_SEED") != nullptr; }
std::uint64_t behind_last_seed() { return is_one_seed() ? first_seed() + 1 : 2000; }

struct Side {
  MPI_Datatype type;
  const Layout* layout;
};

// As many elements as there have to be for both to have as many bytes. False: there are too many,
// or the target's overlap.
bool carry(std::uint64_t seed, Side from, Side to) {
  const std::size_t ours = from.layout->size_bytes, theirs = to.layout->size_bytes;
  if (ours == 0 || theirs == 0 || std::lcm(ours, theirs) > 8192) return false;
  const Elements sent{from.layout, std::lcm(ours, theirs) / ours};
  const Elements taken{to.layout, std::lcm(ours, theirs) / theirs};
  const auto sent_count = static_cast<std::int64_t>(sent.count);
  Memory source(sent), expected(taken), result(taken);
  if (is_overlapping(result, taken)) return false;
  std::mt19937_64 random(seed);
  source.fill(random);
  result.fill(random);
  expected.bytes() = result.bytes();
  unpack_by_runs(pack_by_mpi(source, from.type, sent_count), expected, taken);
  const auto copy = [&](const std::byte* at, std::int64_t offset, std::size_t bytes) {
    std::memcpy(place_at(result.begin(), offset), at, bytes);
  };
  EXPECT_EQ(walk(source.begin(), sent, taken, copy), Walked::whole);
  EXPECT_EQ(expected.bytes(), result.bytes());
  return true;
}

}  // namespace

TEST(MpiType, RandomOnesAreWhatMpiPacks) {
  Types types;
  for (std::uint64_t seed = first_seed(); seed < behind_last_seed(); ++seed) {
    Drawing drawing(seed);
    DrawnType drawn = drawing.draw(static_cast<unsigned>(seed % 5));
    SCOPED_TRACE("PHOTON_TEST_TYPE_SEED=" + std::to_string(seed) + ": " + drawn.words);
    expect_like_mpi(types, drawn.type, drawing.number(0, 3), seed);
    free_type(drawn);
  }
  EXPECT_EQ(types.layouts_count(), 0u);
}

TEST(MpiType, RandomOnesHaveTheBasicTypeOfTheirLeaves) {
  Types types;
  int with_one = 0, with_several = 0;
  for (std::uint64_t seed = first_seed(); seed < behind_last_seed(); ++seed) {
    Drawing drawing(seed);
    DrawnType drawn = drawing.draw(static_cast<unsigned>(seed % 5));
    SCOPED_TRACE("PHOTON_TEST_TYPE_SEED=" + std::to_string(seed) + ": " + drawn.words);
    const Layout* const layout = types.find(drawn.type);
    ASSERT_NE(layout, nullptr) << types.refusal(drawn.type);
    if (layout->size_bytes != 0 && drawn.leaves.size() == 1) {
      ++with_one;
      const Layout* const leaf = types.find(drawn.leaves[0]);
      EXPECT_EQ(layout->basic, leaf->basic);
      EXPECT_EQ(layout->element_bytes, leaf->size_bytes);
    } else {
      with_several += layout->size_bytes != 0;
      EXPECT_EQ(layout->basic, Basic::none);
      EXPECT_EQ(layout->element_bytes, 0u);
    }
    free_type(drawn);
  }
  EXPECT_TRUE(is_one_seed() || (with_one > 500 && with_several > 50))
      << with_one << ' ' << with_several;
}

// From one type to another of as many bytes, by pieces, against MPI's way by a packed buffer.
TEST(MpiType, PiecesOfTwoLayoutsCarryWhatMpiCarries) {
  Types types;
  int tried = 0;
  for (std::uint64_t seed = first_seed(); seed < behind_last_seed(); ++seed) {
    Drawing drawing(seed);
    DrawnType from = drawing.draw(3), to = drawing.draw(3);
    SCOPED_TRACE("PHOTON_TEST_TYPE_SEED=" + std::to_string(seed) + ": " + from.words + " to " +
                 to.words);
    const Layout *const origin = types.find(from.type), *const target = types.find(to.type);
    ASSERT_TRUE(origin != nullptr && target != nullptr);
    tried += carry(seed, {from.type, origin}, {to.type, target});
    free_type(from);
    free_type(to);
  }
  EXPECT_TRUE(is_one_seed() || tried > 200) << tried;
}

}  // namespace photon::mpi::test
