// Waiting: what counts as news, time limits, and flushes.
#include <thread>

#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

ph_status wait(EngineGroup& ranks, Rank rank, const ph_query& query, std::int64_t timeout_us) {
  LaneGuard guard(ranks.lane(rank));
  return ranks[rank].wait(guard, query, timeout_us);
}

TEST(Wait, it_returns_for_what_was_asked_for_only) {
  Two two;
  EXPECT_EQ(wait(two.ranks, 0, {1, PH_REMOTE, nullptr}, 0), PH_TIMEOUT);
  ASSERT_EQ(two.ranks[1].put(0, put_args({}, {}, 1, 2)), PH_OK);
  EXPECT_EQ(wait(two.ranks, 0, {1, PH_LOCAL, nullptr}, 0), PH_TIMEOUT);
  EXPECT_EQ(wait(two.ranks, 0, {0, PH_REMOTE, nullptr}, 0), PH_TIMEOUT);
  EXPECT_EQ(wait(two.ranks, 0, {1, PH_REMOTE, nullptr}, 0), PH_OK);
  EXPECT_EQ(wait(two.ranks, 0, {PH_ANY_RANK, PH_EITHER, nullptr}, -1), PH_OK);
  EXPECT_EQ(two.ranks.take(0, PH_REMOTE).id, 2u);
  EXPECT_EQ(wait(two.ranks, 0, {2, PH_LOCAL, nullptr}, 0), PH_ERR_RANK);
  EXPECT_EQ(wait(two.ranks, 0, {1, 0, nullptr}, 0), PH_ERR_ARGUMENT);
}

TEST(Wait, a_post_of_another_thread_wakes_the_sleeper) {
  Two two;
  std::thread sleeper([&] {
    EXPECT_EQ(wait(two.ranks, 0, {1, PH_LOCAL, nullptr}, 15'000'000), PH_OK);
  });
  two.ranks.fake(0).await_sleeper();
  {
    LaneGuard guard(two.ranks.lane(0));
    ASSERT_EQ(two.ranks[0].put_u64(1, {nullptr, 0}, {}, {1, 1}), PH_OK);
    EXPECT_FALSE(two.ranks.fake(0).sleeper_is_left_alone());
  }
  sleeper.join();
}

TEST(Wait, a_peer_that_can_send_nothing_any_more_ends_the_wait_for_it) {
  Two two;
  two.ranks.net().seats[0].gone[1] = {PH_ERR_PEER, 0, "gone", 1};
  EXPECT_EQ(wait(two.ranks, 0, {1, PH_REMOTE, nullptr}, PH_FOREVER), PH_ERR_PEER);
}

TEST(Wait, a_flush_that_nobody_answers_ends_at_its_time_limit_and_can_be_repeated) {
  Two two;
  const auto source = filled(100, 1);
  ASSERT_EQ(two.ranks[0].put(1, two.put(source)), PH_OK);
  LaneGuard guard(two.ranks.lane(0));
  EXPECT_EQ(two.ranks[0].flush(guard, 1, 1000), PH_TIMEOUT);
  for (int i = 0; i < 100; ++i) two.ranks.turn();
  EXPECT_EQ(two.ranks[0].flush(guard, 1, 0), PH_OK);
  EXPECT_EQ(two.ranks[0].flush(guard, PH_ANY_RANK, 0), PH_OK);
  EXPECT_EQ(first_difference(two.memory.bytes().first(100), 1), 100u);
}

TEST(Wait, a_flush_that_fails_names_the_lost_peer_whatever_failed_after_it) {
  EngineGroup ranks(3, Ground::fake, options());
  ranks.meet(0, 1);
  ranks.meet(0, 2);
  const std::vector<std::byte> source(100);
  Guarded memory(100);
  for (const Rank rank : {1u, 2u}) {
    const ph_region region = ranks.add(rank, memory.bytes());
    ASSERT_EQ(ranks[0].put(rank, put_args(source, ph_at(&region, 0), 1, 2)), PH_OK);
  }
  ranks.net().seats[0].gone[1] = {PH_ERR_PEER, 0, "gone", 1};
  ranks.net().seats[0].gone[2] = {PH_ERR_PROTOCOL, 0, "nonsense", 2};
  LaneGuard guard(ranks.lane(0));
  EXPECT_EQ(ranks[0].flush(guard, PH_ANY_RANK, 1'000'000), PH_ERR_PEER);
  EXPECT_EQ(ranks[0].last_error().status, PH_ERR_PEER);
  EXPECT_EQ(ranks[0].last_error().rank, 1u);
}

}  // namespace
}  // namespace photon::engine::test
