// Copying to a peer's memory: under an intent, piece by piece, as long as the key is good.
#include "vectored_unit.hpp"

namespace photon::engine::test {
namespace {

TEST(Copying, a_direct_copy_names_its_region_in_the_intent_word_and_clears_it) {
  Two two(options(Reach::Kind::mapped));
  const auto source = filled(4096, 7);
  ASSERT_EQ(two.ranks[0].put(1, two.put(source)), PH_OK);
  for (std::uint64_t slot = 0; slot < 16; ++slot)
    EXPECT_FALSE(two.ranks.net().way(0, 1).intent.names(slot)) << slot;
  EXPECT_EQ(remove_region(two.ranks[1], two.region.key), PH_OK);
  EXPECT_EQ(two.ranks[0].put(1, two.put(source)), PH_ERR_KEY);
}

TEST(Copying, a_direct_put_whose_key_goes_stale_between_pieces_stops_there) {
  Two two(options(Reach::Kind::mapped));
  const auto source = filled(20000, 7);
  ASSERT_EQ(two.ranks[0].put(1, two.put(source)), PH_OK);
  ASSERT_EQ(remove_region(two.ranks[1], two.region.key), PH_OK);
  const ph_completion done = two.ranks.take(0, PH_LOCAL);
  EXPECT_EQ(done.status, PH_ERR_KEY);
  EXPECT_EQ(done.id, two.local_id);
  EXPECT_EQ(first_difference(two.memory.bytes().first(20000), 7), 4096u) << "one piece only";
  EXPECT_EQ(two.count(1, PH_REMOTE), 0u);
}

TEST(Copying, a_key_that_goes_between_two_pieces_ends_a_direct_put_with_its_error) {
  FakeOptions chosen = options(Reach::Kind::mapped);
  chosen.config.piece_bytes = 256;
  chosen.config.posted_piece_bytes = 256;
  Two two(chosen);
  std::vector<std::byte> own = filled(6000, 1);
  Blocks blocks(two, own);
  blocks.add_many(100, 60);
  ASSERT_EQ(two.ranks[0].vectored(1, blocks.put()), PH_OK);
  ASSERT_EQ(remove_region(two.ranks[1], two.region.key), PH_OK);
  std::fill(two.memory.bytes().begin(), two.memory.bytes().end(), std::byte{0x11});
  EXPECT_EQ(two.ranks.take(0, PH_LOCAL).status, PH_ERR_KEY);
  EXPECT_EQ(two.count(1, PH_REMOTE), 0u);
  for (const std::byte byte : two.memory.bytes()) ASSERT_EQ(byte, std::byte{0x11});
  expect_idle(two);
}

}  // namespace
}  // namespace photon::engine::test
