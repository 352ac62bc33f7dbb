// Copies wait until the owner of the memory has met the initiator: only then can it see an intent.
#include <gtest/gtest.h>

#include "shm_pair.hpp"

namespace photon::transport::shm {
namespace {

using namespace test;

class Met : public ShmPairTest {
 protected:
  // Rank 0 has offered and rank 1 has answered; rank 0 has not looked since.
  static bool answered(ShmPair& pair) {
    pair[0].to(1);
    for (int round = 0; round < 100'000 && !pair[1].news.links.contains(0); ++round) pair[1].poll();
    return pair[1].news.links.contains(0) && !pair[0].news.links.contains(1);
  }
  static std::uint64_t address_of(const void* data) {
    return reinterpret_cast<std::uintptr_t>(data);
  }
};
INSTANTIATE_TEST_SUITE_P(process, Met, testing::Bool(), process_name);

TEST_P(Met, memory_of_a_rank_that_was_answered_is_reached_once_it_has_seen_the_answer) {
  ShmPair pair(one_process());
  ASSERT_TRUE(answered(pair));
  Transport& mine = *pair[1].transport;
  const std::uint64_t in_arena = address_of(pair[0].transport->arena().data()) + 100;
  const std::uint64_t word = 7;
  ASSERT_NE(pair[1].to(0).peer_regions, nullptr) << "its keys are seen already";
  EXPECT_FALSE(pair[1].to(0).tx_credits->has_met());
  EXPECT_EQ(mine.reach(0, in_arena, 8).kind, Reach::Kind::none);
  EXPECT_EQ(mine.reach(0, address_of(&word), 8).kind, Reach::Kind::none);
  ASSERT_TRUE(pair.eventually([&] { return pair[0].news.links.contains(1); }));
  EXPECT_TRUE(pair[1].to(0).tx_credits->has_met());
  EXPECT_EQ(mine.reach(0, in_arena, 8).kind, Reach::Kind::mapped);
  if (one_process()) {
    EXPECT_EQ(mine.reach(0, address_of(&word), 8).kind, Reach::Kind::mapped);
  }
}

TEST_P(Met, who_has_met_a_rank_sees_its_intents) {
  ShmPair pair(one_process());
  ASSERT_TRUE(answered(pair));
  EXPECT_EQ(pair[0].to(1).rx_intent, nullptr);
  ASSERT_TRUE(pair.eventually([&] { return pair[1].to(0).tx_credits->has_met(); }));
  ASSERT_NE(pair[0].to(1).rx_intent, nullptr);
  pair[1].to(0).tx_intent->enter(5, true);
  EXPECT_TRUE(pair[0].to(1).rx_intent->names(5));
  pair[1].to(0).tx_intent->leave();
  EXPECT_FALSE(pair[0].to(1).rx_intent->names(5));
}

TEST_P(Met, a_rank_has_met_itself) {
  ShmPair pair(one_process());
  pair[0].to(0);
  const std::uint64_t in_arena = address_of(pair[0].transport->arena().data());
  EXPECT_EQ(pair[0].transport->reach(0, in_arena, 8).kind, Reach::Kind::mapped);
}

}  // namespace
}  // namespace photon::transport::shm
