// Pieces that a card refuses, keys that are taken back, full queues, and ranks that end.
#include "posted_cards.hpp"

namespace photon::test {
namespace {

TEST_P(PostedConformance, the_peers_card_refuses_what_its_key_does_not_grant) {
  const auto source = pattern(100, 1);
  const auto with = [&](std::uint64_t address, std::uint64_t key) {
    PostedPiece piece = cards().write(0, source);
    piece.address = address;
    piece.key = key;
    if (cards().is_named()) piece.name = 1;
    return cards().outcome(piece);
  };
  const std::uint64_t begin = cards().at(0), end = cards().at(0) + kBytes;
  EXPECT_EQ(with(begin, kKey + 64), PH_ERR_KEY);  // the same slot
  EXPECT_EQ(with(begin, kKey + 1), PH_ERR_KEY);   // a free one
  EXPECT_EQ(with(begin, 0), PH_ERR_KEY);
  EXPECT_EQ(with(begin - 1, kKey), PH_ERR_RANGE);
  EXPECT_EQ(with(end - 99, kKey), PH_ERR_RANGE);
  EXPECT_EQ(with(end, kKey), PH_ERR_RANGE);
  EXPECT_EQ(with(~std::uint64_t{0} - 50, kKey), PH_ERR_RANGE);
  std::vector<std::byte> landing(100);
  cards().republish(PH_ACCESS_READ);
  EXPECT_EQ(with(begin, kKey), PH_ERR_ACCESS);
  EXPECT_EQ(cards().outcome(cards().read(0, landing)), PH_OK);
  cards().republish(PH_ACCESS_WRITE);
  EXPECT_EQ(cards().outcome(cards().read(0, landing)), PH_ERR_ACCESS);
  cards().job.settle();
  EXPECT_TRUE(cards().names().empty()) << "a refused piece was told";
  EXPECT_EQ(cards().memory, std::vector<std::byte>(kBytes));
  EXPECT_EQ(with(end - 100, kKey), PH_OK);
}

TEST_P(PostedConformance, after_quiesce_nothing_changes_under_a_revoked_key) {
  for (unsigned polls = 0; polls < 40; ++polls) {
    renew();
    const auto source = pattern(kBytes, 1);
    std::size_t posted = 0;
    for (const auto piece = cards().write(0, source);
         posted < 3 && cards().job[0].transport().post(piece);)
      ++posted;
    for (unsigned i = 0; i < polls; ++i) cards().job[0].poll();
    cards().revoke();
    const auto before = cards().memory;
    ASSERT_TRUE(cards().over(posted));
    EXPECT_EQ(cards().outcome(cards().write(0, source)), PH_ERR_KEY);
    cards().job.settle();
    EXPECT_EQ(cards().memory, before);
  }
}

TEST_P(PostedConformance, a_full_queue_loses_nothing_and_comes_free_again) {
  const auto source = pattern(10, 1);
  constexpr std::size_t kMost = 1 << 20;
  std::size_t posted = 0;
  while (posted < kMost && cards().job[0].transport().post(cards().write(0, source))) ++posted;
  if (posted == kMost) GTEST_SKIP() << "the queue has no end that a test would find";
  ASSERT_GT(posted, 0u);
  EXPECT_FALSE(cards().job[0].transport().post(cards().write(0, source)));
  ASSERT_TRUE(cards().over(posted));
  std::size_t again = 0;
  while (cards().job[0].transport().post(cards().write(0, source))) ++again;
  EXPECT_EQ(again, posted);
  ASSERT_TRUE(cards().over(posted + again));
  cards().job.settle();
  EXPECT_EQ(cards().done().size(), posted + again) << "what did not fit was told";
}

TEST_P(PostedConformance, a_rank_that_ends_answers_all_pieces_before_it_is_gone) {
  for (unsigned polls = 0; polls < 40; ++polls) {
    renew();
    const auto source = pattern(1000, 1);
    std::size_t posted = 0;
    while (posted < 4 && cards().job[0].transport().post(cards().write(1000 * posted, source)))
      ++posted;
    for (unsigned i = 0; i < polls; ++i) cards().job[0].poll();
    cards().job.end(1);
    const auto before = cards().memory;
    ASSERT_TRUE(cards().job.eventually([&] {
      if (cards().job[0].seen(1).gone_count == 0) return false;
      EXPECT_EQ(cards().done().size(), posted);
      return true;
    }));
    for (const Peer::Done& one : cards().done()) {
      const std::size_t offset = 1000 * (one.token - 1000);
      EXPECT_EQ(one.status, cards().there(offset, source) ? PH_OK : PH_ERR_PEER);
    }
    cards().job.settle();
    EXPECT_EQ(cards().done().size(), posted);
    EXPECT_EQ(cards().memory, before) << "it was written to after its end";
    EXPECT_EQ(cards().job[0].transport().reach(1, cards().at(0), 8).kind, Reach::Kind::none);
  }
}

TEST_P(PostedConformance, an_initiator_that_ends_leaves_its_memory_alone) {
  for (unsigned polls = 0; polls < 40; ++polls) {
    renew();
    auto source = pattern(kBytes, 1);
    ASSERT_TRUE(cards().post(cards().write(0, source)));
    for (unsigned i = 0; i < polls; ++i) cards().job[1].poll();
    cards().job.end(0);
    std::fill(source.begin(), source.end(), std::byte{0xee});
    cards().job.settle();
    EXPECT_EQ(std::count(cards().memory.begin(), cards().memory.end(), std::byte{0xee}), 0);
  }
}

}  // namespace
}  // namespace photon::test
