// Arming: what is refused, what counts as news that has come, and who takes it back.
#include "engine/event_source.hpp"

#include <poll.h>

#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

ph_status arm(EngineGroup& ranks, Rank rank) {
  LaneGuard guard(ranks.lane(rank));
  return EventSource(ranks[rank]).arm(guard);
}

int descriptor(EngineGroup& ranks, Rank rank) {
  int fd = -1;
  EXPECT_EQ(EventSource(ranks[rank]).descriptor(fd), PH_OK);
  return fd;
}

bool is_readable(int fd, int timeout_ms = 0) {
  pollfd one{fd, POLLIN, 0};
  return ::poll(&one, 1, timeout_ms) == 1;
}

// As a loop of events does, which finds nothing.
void arm_at_last(EngineGroup& ranks, Rank rank) {
  ph_status status = PH_AGAIN;
  for (int i = 0; i < 1000 && status == PH_AGAIN; ++i) {
    EXPECT_EQ(ranks.probe(rank, PH_EITHER).size(), 0u);
    status = arm(ranks, rank);
  }
  ASSERT_EQ(status, PH_OK);
}

TEST(EventSource, a_transport_without_descriptors_is_refused_in_words_and_so_is_arming_too_early) {
  Two two;
  int fd = 7;
  EXPECT_EQ(EventSource(two.ranks[0]).descriptor(fd), PH_ERR_NOT_FOUND);
  EXPECT_NE(two.ranks[0].last_error().what.find("transport fake"), std::string::npos);
  EXPECT_EQ(arm(two.ranks, 0), PH_ERR_NOT_FOUND);
  EXPECT_NE(two.ranks[0].last_error().what.find("ph_event_fd"), std::string::npos);
}

TEST(EventSource, is_readable_unless_it_is_armed) {
  Two two(options(), Ground::shm);
  const int fd = descriptor(two.ranks, 0);
  EXPECT_EQ(descriptor(two.ranks, 0), fd);
  EXPECT_TRUE(is_readable(fd));
  arm_at_last(two.ranks, 0);
  EXPECT_FALSE(is_readable(fd));
  EXPECT_EQ(arm(two.ranks, 0), PH_OK) << "again";
  EXPECT_FALSE(is_readable(fd));
  two.ranks[0].serve();
  EXPECT_TRUE(is_readable(fd)) << "a turn disarms it";
}

TEST(EventSource, a_record_of_a_peer_makes_it_readable_and_is_news_until_it_was_taken) {
  Two two(options(), Ground::shm);
  const int fd = descriptor(two.ranks, 0);
  arm_at_last(two.ranks, 0);
  ASSERT_EQ(two.ranks[1].notify(0, 5), PH_OK);
  EXPECT_TRUE(is_readable(fd));
  EXPECT_EQ(arm(two.ranks, 0), PH_AGAIN);
  EXPECT_EQ(arm(two.ranks, 0), PH_AGAIN) << "it waits for a probe";
  const auto found = two.ranks.probe(0, PH_REMOTE);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].id, 5u);
  arm_at_last(two.ranks, 0);
  EXPECT_FALSE(is_readable(fd));
}

TEST(EventSource, what_this_rank_posts_while_it_is_armed_makes_it_readable) {
  Two two(options(), Ground::shm);
  const int fd = descriptor(two.ranks, 0);
  arm_at_last(two.ranks, 0);
  ASSERT_EQ(two.ranks[0].put_u64(1, {nullptr, 0}, {}, {1, 1}), PH_OK);
  EXPECT_TRUE(is_readable(fd));
  EXPECT_EQ(two.ranks.probe(0, PH_LOCAL).size(), 1u);
}

// Else who tests one request after the other would sleep on the first, which the test of the second
// has ended.
TEST(EventSource, a_request_that_ended_since_the_last_arming_is_news_once) {
  Two two(options(), Ground::shm);
  const int fd = descriptor(two.ranks, 0);
  arm_at_last(two.ranks, 0);
  ph_request request = PH_REQUEST_NONE;
  const auto source = filled(8, 1);
  ph_put_args args = two.put(source, PH_DELIVERED | PH_NO_RCE);
  args.request = &request;
  ASSERT_EQ(two.ranks[0].put(1, args), PH_OK);
  ASSERT_NE(request, PH_REQUEST_NONE) << "it was over at once";
  for (int i = 0; i < 100; ++i) two.ranks.turn();
  EXPECT_EQ(arm(two.ranks, 0), PH_AGAIN);
  arm_at_last(two.ranks, 0);
  EXPECT_FALSE(is_readable(fd));
  ph_result result{};
  EXPECT_EQ(two.ranks[0].test(request, result), PH_OK);
}

TEST(EventSource, waking_makes_it_readable_and_is_used_up_by_arming) {
  Two two(options(), Ground::shm);
  const int fd = descriptor(two.ranks, 0);
  EXPECT_FALSE(two.ranks.lane(0).wake_word().set()) << "nobody sleeps";
  EXPECT_EQ(arm(two.ranks, 0), PH_AGAIN);
  arm_at_last(two.ranks, 0);
  ASSERT_TRUE(two.ranks.lane(0).wake_word().set());
  EventSource(two.ranks[0]).wake();
  EXPECT_TRUE(is_readable(fd));
  two.ranks[0].serve();
  EXPECT_FALSE(two.ranks.lane(0).wake_word().set()) << "nobody sleeps any more";
  EXPECT_EQ(arm(two.ranks, 0), PH_AGAIN);
  arm_at_last(two.ranks, 0);
}

// A collective may last for ever while ids wait that nobody takes before it is over.
TEST(EventSource, a_collective_rests_on_it_until_a_peer_asks_and_takes_nobodys_news) {
  Two two(options(), Ground::shm);
  LaneGuard guard(two.ranks.lane(0));
  EventSource source(two.ranks[0]);
  ASSERT_EQ(two.ranks[1].notify(0, 5), PH_OK);
  while (two.ranks[0].serve()) {
  }
  static_cast<void>(two.ranks.lane(0).wake_word().set());
  int fd = boot::Serve::kNews;
  for (int i = 0; i < 1000 && fd == boot::Serve::kNews; ++i) fd = source.rest_on(guard);
  ASSERT_GE(fd, 0);
  EXPECT_FALSE(is_readable(fd));
  ASSERT_EQ(two.ranks[1].notify(0, 6), PH_OK);
  EXPECT_TRUE(is_readable(fd));
  EXPECT_TRUE(two.ranks[0].serve());
  source.end_rest();
  EXPECT_EQ(source.arm(guard), PH_ERR_NOT_FOUND) << "it was not the application's";
  EXPECT_TRUE(two.ranks.lane(0).wake_word().take());
  EXPECT_EQ(two.ranks.probe(0, PH_REMOTE).size(), 2u);
}

TEST(EventSource, a_lane_that_closes_while_it_is_armed_ends_at_once) {
  Two two(options(), Ground::shm);
  descriptor(two.ranks, 0);
  arm_at_last(two.ranks, 0);
  two.ranks[0].tell_closed();
  LaneGuard guard(two.ranks.lane(0));
  EXPECT_EQ(two.ranks[0].finalize(guard), PH_OK);
}

}  // namespace
}  // namespace photon::engine::test
