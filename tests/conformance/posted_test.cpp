// Pieces that network cards move: when they have landed and who is told, in which order.
#include <map>

#include "posted_cards.hpp"

namespace photon::test {
namespace {

TEST_P(PostedConformance, nothing_is_posted_to_a_rank_that_was_never_met) {
  EXPECT_EQ(cards().job[0].transport().reach(2, cards().at(0), 8).kind, Reach::Kind::none);
}

TEST_P(PostedConformance, the_ranks_of_a_job_agree_on_what_a_write_tells) {
  for (transport::Rank rank = 0; rank < 3; ++rank)
    EXPECT_EQ(cards().job[rank].transport().names_pieces(rank == 1 ? 0 : 1), cards().is_named());
}

TEST_P(PostedConformance, the_bytes_of_a_write_are_there_when_either_side_hears_of_it) {
  std::size_t offset = 0;
  unsigned told = 0, done = 0;
  std::span<const std::byte> bytes;
  cards().job[0].at_done = [&](const Peer::Done& one) {
    EXPECT_EQ(one.status, PH_OK);
    EXPECT_TRUE(cards().there(offset, bytes));
    ++done;
  };
  cards().job[1].at_piece = [&](std::uint32_t name) {
    EXPECT_EQ(name, 77 + told);
    EXPECT_TRUE(cards().there(offset, bytes));
    ++told;
  };
  for (unsigned i = 0; i < 60; ++i) {
    const std::size_t size_bytes = i < 4 ? 1 + i : 97 * i;
    const auto source = pattern(size_bytes, i);
    offset = 13 * i;
    bytes = source;
    PostedPiece piece = cards().write(offset, source);
    if (cards().is_named()) piece.name = 77 + i;
    ASSERT_TRUE(cards().post(piece));
    ASSERT_TRUE(cards().over(i + 1));
    ASSERT_TRUE(cards().job.eventually([&] { return !cards().is_named() || told == i + 1; }));
  }
  cards().job.settle();
  EXPECT_EQ(done, 60u);
  EXPECT_EQ(told, cards().is_named() ? 60u : 0u);
}

TEST_P(PostedConformance, a_write_changes_no_byte_beside_it) {
  const auto source = pattern(1000, 1);
  ASSERT_EQ(cards().outcome(cards().write(5000, source)), PH_OK);
  EXPECT_TRUE(cards().there(5000, source));
  for (std::size_t i = 0; i < kBytes; ++i)
    ASSERT_EQ(cards().memory[i] == std::byte{0}, i < 5000 || i >= 6000) << i;
}

TEST_P(PostedConformance, a_read_has_landed_when_it_is_over) {
  cards().memory = pattern(kBytes, 3);
  cards().republish(PH_ACCESS_READ);
  std::vector<std::byte> landing(5000 + 2);
  ASSERT_EQ(cards().outcome(cards().read(100, {landing.data() + 1, 5000})), PH_OK);
  EXPECT_TRUE(cards().there(100, {landing.data() + 1, 5000}));
  EXPECT_EQ(landing.front(), std::byte{0});
  EXPECT_EQ(landing.back(), std::byte{0});
  cards().job.settle();
  EXPECT_TRUE(cards().names().empty()) << "a read tells nobody";
}

TEST_P(PostedConformance, only_pieces_with_a_name_are_told_each_once) {
  const auto source = pattern(64, 1);
  std::map<std::uint32_t, unsigned> wanted;
  for (std::uint32_t i = 0; i < 200; ++i) {
    PostedPiece piece = cards().write(64 * (i % 200), source);
    if (cards().is_named() && i % 3 != 0) {
      piece.name = i % 50 + 0xff'ff00;  // some names come again
      ++wanted[*piece.name];
    }
    ASSERT_TRUE(cards().post(piece));
  }
  ASSERT_TRUE(cards().over(200));
  cards().job.settle();
  std::map<std::uint32_t, unsigned> told;
  for (const std::uint32_t name : cards().names()) ++told[name];
  EXPECT_EQ(told, wanted);
  EXPECT_EQ(cards().done().size(), 200u);
}

TEST_P(PostedConformance, each_piece_is_over_once_with_its_token) {
  std::vector<std::vector<std::byte>> landings(100, std::vector<std::byte>(70));
  const auto source = pattern(50, 1);
  std::vector<std::uint64_t> wanted;
  for (std::size_t i = 0; i < 100; ++i) {
    const PostedPiece piece =
        i % 2 == 0 ? cards().write(50 * i, source) : cards().read(50 * i, landings[i]);
    wanted.push_back(piece.token);
    ASSERT_TRUE(cards().post(piece));
  }
  ASSERT_TRUE(cards().over(100));
  cards().job.settle();
  std::vector<std::uint64_t> told;
  for (const Peer::Done& one : cards().done()) told.push_back(one.token);
  std::sort(told.begin(), told.end());
  EXPECT_EQ(told, wanted);
}

TEST_P(PostedConformance, registrations_of_own_memory_overlap_and_each_ends_for_itself) {
  transport::Transport& card = cards().job[0].transport();
  const std::uint64_t granule = card.local_granule();
  if (granule == 0) GTEST_SKIP() << "the card takes any memory";
  EXPECT_EQ(granule & (granule - 1), 0u);
  std::vector<std::byte> own(8 * granule + 64, std::byte{7});
  const auto address = reinterpret_cast<std::uintptr_t>(own.data());
  const auto* begin =
      reinterpret_cast<const std::byte*>((address + granule - 1) & ~std::uint64_t{granule - 1});
  const auto wide = card.register_local({begin, 6 * granule}, false);
  const auto again = card.register_local({begin, 6 * granule}, true);
  const auto inner = card.register_local({begin + granule, granule}, false);
  ASSERT_TRUE(wide && again && inner);
  EXPECT_NE(*wide, 0u);
  EXPECT_NE(*wide, *again);
  EXPECT_NE(*again, *inner);
  const auto write = [&](std::uint64_t handle) {
    PostedPiece piece = cards().write(0, {begin + granule, granule});
    piece.local = handle;
    return cards().outcome(piece);
  };
  EXPECT_EQ(write(*wide), PH_OK);
  card.unregister_local(*wide);
  EXPECT_EQ(write(*again), PH_OK);
  EXPECT_EQ(write(*inner), PH_OK);
  card.unregister_local(*inner);
  EXPECT_EQ(write(*again), PH_OK);
}

// The engine's counting rests on this.
TEST_P(PostedConformance, a_piece_is_told_before_what_its_initiator_publishes_after_it_was_over) {
  if (!cards().is_named()) GTEST_SKIP() << "nothing is told to the target";
  const auto source = pattern(300, 1);
  std::size_t told = 0;
  cards().job[1].at_piece = [&](std::uint32_t) { ++told; };
  for (std::uint32_t i = 0; i < 100; ++i) {
    PostedPiece piece = cards().write(0, source);
    piece.name = i;
    ASSERT_TRUE(cards().post(piece));
    ASSERT_TRUE(cards().over(i + 1));
    ASSERT_TRUE(cards().job[0].to(1).send(record_of_lines(1, i)));
    ASSERT_TRUE(cards().job.eventually([&] { return cards().job[1].to(0).has_record(); }));
    EXPECT_EQ(told, i + 1) << "the record has overtaken it";
    cards().job[1].to(0).receive();
  }
}

}  // namespace
INSTANTIATE_TEST_SUITE_P(transport, PostedConformance, testing::ValuesIn(card_kinds()),
                         [](const auto& one) { return std::string(one.param.name); });
}  // namespace photon::test
