// Back-pressure of the provider, and who goes on for a rank that makes no calls.
#include <chrono>
#include <thread>

#include "ofi_ranks.hpp"

namespace photon::transport::ofi::test {
namespace {

class OfiTraffic : public OfiTest {};

TEST_F(OfiTraffic, what_the_provider_does_not_take_waits_and_arrives) {
  OfiRanks ranks(2, {}, ofi_config(), {}, OfiTime::real);
  ASSERT_TRUE(ranks.join(0, 1));
  ranks[0].fabric().stick(true);
  for (std::uint64_t i = 0; i < 20; ++i) ASSERT_TRUE(ranks[0].say(1, i));
  ranks.settle();
  EXPECT_FALSE(ranks[0].transport->drained());
  EXPECT_EQ(ranks[1].news.activity.count(0), 0u);
  ranks[0].fabric().stick(false);
  EXPECT_TRUE(ranks.eventually([&] { return ranks[1].news.activity[0] != 0; }));
  EXPECT_TRUE(ranks.eventually([&] { return ranks[0].transport->drained(); }));
}

// The fake counts what is under way.
TEST_F(OfiTraffic, no_more_is_under_way_than_the_queue_has_room_for) {
  OfiRanks ranks(2, {}, ofi_config(), {}, OfiTime::real);
  ASSERT_TRUE(ranks.join(0, 1));
  ranks[0].fabric().hold_completions(true);
  for (std::uint64_t i = 0; i < 64; ++i) ASSERT_TRUE(ranks[0].say(1, i));
  ranks.settle();
  EXPECT_FALSE(ranks[0].transport->drained());
  ranks[0].fabric().hold_completions(false);
  EXPECT_TRUE(ranks.eventually([&] { return ranks[0].transport->drained(); }));
}

// Few messages are left to the provider, which as a rule needs no help with them; but it may.
TEST_F(OfiTraffic, what_the_provider_holds_back_leaves_though_its_rank_makes_no_calls) {
  OfiRanks ranks(2, {.completes_after = 5, .sends_when_over = true}, ofi_config(), {},
                 OfiTime::real);
  ASSERT_TRUE(ranks.join(0, 1));
  ranks.settle();
  for (int i = 0; i < 3; ++i) {
    const unsigned before = ranks[1].news.activity[0];
    ASSERT_TRUE(ranks[0].say(1, 1));
    while (ranks[1].news.activity[0] == before) ranks[1].transport->poll(ranks[1].news);
  }
}

// By the clock of the tries themselves: a machine that is late makes them rarer only.
TEST_F(OfiTraffic, a_peer_that_takes_nothing_is_tried_ever_more_rarely) {
  OfiRanks ranks(2, {}, ofi_config(), {}, OfiTime::real);
  ASSERT_TRUE(ranks.join(0, 1));
  ranks.settle();
  ranks[0].fabric().stick(true);
  ASSERT_TRUE(ranks[0].say(1, 1));
  constexpr std::size_t kTries = 64, kLast = 8;
  while (ranks[0].fabric().refusals().size() < kTries) std::this_thread::yield();
  const auto tries = ranks[0].fabric().refusals();
  EXPECT_GE(tries[kTries - 1] - tries[kTries - 1 - kLast], kLast * std::chrono::milliseconds(15))
      << "every 16 ms in the end";
  ranks[0].fabric().stick(false);
  while (ranks[1].news.activity[0] == 0) ranks[1].transport->poll(ranks[1].news);
}

TEST_F(OfiTraffic, a_provider_that_will_not_send_ends_that_peer_with_its_words) {
  OfiRanks ranks(2);
  ASSERT_TRUE(ranks.join(0, 1));
  ranks[0].fabric().fail_sends();
  ASSERT_TRUE(ranks[0].say(1, 1));
  ASSERT_TRUE(ranks.eventually([&] { return ranks[0].news.gone.count(1) == 1; }));
  EXPECT_EQ(ranks[0].news.gone[1].status, PH_ERR_PEER);
  EXPECT_NE(ranks[0].news.gone[1].what.find("fake trouble"), std::string::npos);
}

TEST_F(OfiTraffic, a_rank_that_makes_no_calls_still_sends_what_waited) {
  OfiRanks ranks(2, {}, ofi_config(), {}, OfiTime::real);
  ASSERT_TRUE(ranks.join(0, 1));
  // Every second call is refused once: the flusher has to come again.
  OfiRanks refusing(2, {.refuses_every = 2}, ofi_config(), {}, OfiTime::real);
  ASSERT_TRUE(refusing.join(0, 1));
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(refusing[0].say(1, i));
  while (refusing[1].news.activity[0] == 0) refusing[1].transport->poll(refusing[1].news);
}

TEST_F(OfiTraffic, memory_of_a_peer_is_not_reached) {
  OfiRanks ranks(2, {}, ofi_config(), {}, OfiTime::real);
  ASSERT_TRUE(ranks.join(0, 1));
  EXPECT_EQ(ranks[0].transport->reach(1, 0x1000, 8).kind, Reach::Kind::none);
  std::byte byte{};
  EXPECT_FALSE(ranks[0].transport->read(1, 0x1000, std::span(&byte, 1)));
  EXPECT_FALSE(ranks[0].transport->write(1, 0x1000, std::span(&byte, 1)));
}

}  // namespace
}  // namespace photon::transport::ofi::test
