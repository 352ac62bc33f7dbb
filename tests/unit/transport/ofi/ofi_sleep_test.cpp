// What ends a sleep; the rest of it stands in the conformance suite.
#include <atomic>
#include <thread>

#include "ofi_ranks.hpp"

namespace photon::transport::ofi::test {
namespace {

constexpr std::int64_t kTenMinutesUs = 600'000'000;

class OfiSleep : public OfiTest {
 protected:
  // Rank 1 sleeps until it has heard of rank 0, which speaks once the sleep may have begun.
  static void a_message_ends_it(const FakeManners& manners) {
    OfiRanks ranks(2, manners, ofi_config(), {}, OfiTime::real);
    ASSERT_TRUE(ranks.join(0, 1));
    std::atomic<bool> is_armed = false;
    std::thread sender([&] {
      while (!is_armed) std::this_thread::yield();
      EXPECT_TRUE(ranks[0].say(1, 1));
      for (int i = 0; i < 100; ++i) ranks[0].transport->poll(ranks[0].news);
    });
    auto& sleeper = ranks[1];
    while (sleeper.news.activity.count(0) == 0) {
      sleeper.transport->arm();
      sleeper.transport->poll(sleeper.news);
      is_armed = true;
      if (sleeper.news.activity.count(0) == 0) sleeper.transport->sleep(kTenMinutesUs);
      sleeper.transport->disarm();
      sleeper.transport->poll(sleeper.news);
    }
    sender.join();
  }
};

TEST_F(OfiSleep, a_message_ends_it_by_the_providers_descriptor) { a_message_ends_it({}); }

TEST_F(OfiSleep, a_message_ends_it_where_the_provider_has_no_descriptor) {
  a_message_ends_it({.has_wait_fd = false});
}

// Else it would be a loop without a pause.
TEST_F(OfiSleep, goes_by_the_clock_where_the_descriptor_cannot_be_waited_for) {
  OfiRanks ranks(2, {}, ofi_config(), {}, OfiTime::real);
  ASSERT_TRUE(ranks.join(0, 1));
  ranks.settle();
  ranks[0].fabric().fail_waits();
  for (int i = 0; i < 2; ++i) {
    ranks[0].transport->arm();
    const SleepOn on = ranks[0].transport->sleep_on();
    EXPECT_EQ(on.fds[1], -1);
    EXPECT_GT(on.limit_us, 0);
    EXPECT_LE(on.limit_us, 1'000);
    ranks[0].transport->disarm();
  }
}

TEST_F(OfiSleep, is_short_while_something_of_ours_has_not_left) {
  OfiRanks ranks(2);
  ASSERT_TRUE(ranks.join(0, 1));
  ranks.settle();
  ranks[0].fabric().stick(true);
  ASSERT_TRUE(ranks[0].say(1, 1));
  ranks[0].transport->arm();
  const std::int64_t limit_us = ranks[0].transport->sleep_on().limit_us;
  EXPECT_GE(limit_us, 0);
  EXPECT_LE(limit_us, 10'000);
  ranks[0].transport->disarm();
}

}  // namespace
}  // namespace photon::transport::ofi::test
