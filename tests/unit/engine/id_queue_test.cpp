// Ids that wait for their turn, and how requests end.
#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

TEST(Ids, without_credit_both_ids_of_a_put_wait_in_order_until_it_goes_out) {
  for (const std::size_t size : {0, 8, 100, 30000}) {
    SCOPED_TRACE(size);
    Two two;
    auto source = filled(size, 1);
    constexpr std::uint64_t kCount = 20, kLedger = 4;
    for (std::uint64_t i = 0; i < kCount; ++i) {
      two.local_id = two.remote_id = i;
      ASSERT_EQ(two.ranks[0].put(1, two.put(source)), PH_OK);
    }
    for (std::uint64_t i = 0; i < kLedger; ++i) EXPECT_EQ(two.ranks.take(0, PH_LOCAL).id, i);
    for (int i = 0; i < 200; ++i) two.ranks.turn();
    EXPECT_EQ(two.count(0, PH_LOCAL), 0u) << "its put holds a request: it is not over";
    EXPECT_EQ(two.ranks[0].resource_use().requests, kCount - kLedger);
    for (std::uint64_t i = kLedger; i < kCount; ++i) {
      EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, i - kLedger);
      const ph_completion local = two.ranks.take(0, PH_LOCAL);
      EXPECT_EQ(local.id, i);
      EXPECT_EQ(local.outstanding, kCount - i - 1);
      EXPECT_EQ(two.ranks[0].resource_use().requests, kCount - i - 1);
    }
    for (std::uint64_t i = kCount - kLedger; i < kCount; ++i)
      EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, i);
    EXPECT_EQ(two.ranks[0].resource_use().blocks, 0u);
    EXPECT_EQ(two.ranks[0].resource_use().events, 0);
  }
}

// The source of what was queued is the caller's at once, and its request tells that it has gone.
TEST(Ids, a_packed_put_without_credit_is_over_for_its_request_when_it_goes_out) {
  Two two;
  auto source = filled(8, 1);
  for (int i = 0; i < 4; ++i) ASSERT_EQ(two.ranks[0].put(1, two.put({}, PH_NO_LCE)), PH_OK);
  ph_request requests[2] = {};
  for (ph_request& request : requests) {
    ph_put_args args = two.put(source);
    args.request = &request;
    ASSERT_EQ(two.ranks[0].put(1, args), PH_OK);
    ASSERT_NE(request, PH_REQUEST_NONE);
  }
  fill(source, 99);
  ph_result result{};
  EXPECT_EQ(two.ranks[0].test(requests[0], result), PH_AGAIN);
  ph_outcome outcome{};
  EXPECT_EQ(two.ranks[0].cancel(requests[1], outcome), PH_OK);
  EXPECT_EQ(outcome, PH_CANCELLED) << "nothing of it has gone";
  for (int i = 0; i < 5; ++i) EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
  EXPECT_EQ(two.ranks[0].test(requests[0], result), PH_OK);
  for (int i = 0; i < 200; ++i) two.ranks.turn();
  EXPECT_EQ(two.count(1, PH_REMOTE), 0u);
  EXPECT_EQ(first_difference(two.memory.bytes().first(8), 1), 8u);
  EXPECT_EQ(two.ranks[0].resource_use().requests, 0u);
  EXPECT_EQ(two.ranks[0].resource_use().blocks, 0u);
}

// A serial loop: a put, then its local id, with next to no requests. The target takes one id only
// where the loop would stand still for ever.
TEST(Ids, who_waits_for_the_local_id_of_each_put_never_finds_the_requests_used_up) {
  for (const std::size_t size : {0, 1, 100, 3000, 30000})
    for (const Reach::Kind reach : {Reach::Kind::none, Reach::Kind::mapped, Reach::Kind::call}) {
      SCOPED_TRACE(std::to_string(size) + " bytes");
      FakeOptions chosen = options(reach);
      chosen.config.requests = 16;
      Two two(chosen);
      const auto source = filled(size, 1);
      std::uint64_t taken = 0;
      for (std::uint64_t i = 0; i < 200; ++i) {
        two.local_id = two.remote_id = i;
        ASSERT_EQ(two.ranks[0].put(1, two.put(source)), PH_OK) << i;
        std::vector<ph_completion> local;
        for (int turns = 0; local.empty(); ++turns) {
          two.ranks.turn();
          local = two.ranks.probe(0, PH_LOCAL);
          if (!local.empty() || turns < 100) continue;
          ASSERT_LT(taken, i);
          EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, taken++);
          turns = 0;
        }
        ASSERT_EQ(local.size(), 1u);
        EXPECT_EQ(local[0].id, i);
        EXPECT_EQ(two.ranks[0].resource_use().requests, 0u);
      }
      EXPECT_GE(taken, 196u) << "there is back-pressure: the ledger has 4";
    }
}

TEST(Ids, a_small_put_does_not_overtake_the_id_of_a_large_one) {
  for (const auto reach : {Reach::Kind::none, Reach::Kind::mapped, Reach::Kind::call}) {
    Two two(options(reach));
    const auto source = filled(30000, 2);
    two.remote_id = 1;
    ASSERT_EQ(two.ranks[0].put(1, two.put(source)), PH_OK);
    two.remote_id = 2;
    ASSERT_EQ(two.ranks[0].put(1, two.put({source.data(), 8})), PH_OK);
    EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, 1u);
    EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, 2u);
  }
}

TEST(Ids, an_id_without_order_overtakes_one_that_waits_for_its_bytes) {
  Two two;
  const auto source = filled(30000, 2);
  two.remote_id = 1;
  ASSERT_EQ(two.ranks[0].put(1, two.put(source)), PH_OK);
  two.remote_id = 2;
  ASSERT_EQ(two.ranks[0].put(1, two.put({}, PH_ORDER_NONE)), PH_OK);
  EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, 2u);
  EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, 1u);
}

TEST(Ids, a_small_put_without_order_overtakes_one_to_mapped_memory_that_is_under_way) {
  for (const std::size_t size : {8ul, 64ul, 192ul}) {
    Two two(options(Reach::Kind::mapped));
    const auto source = filled(30000, 2);
    two.remote_id = 1;
    ASSERT_EQ(two.ranks[0].put(1, two.put(source)), PH_OK);
    two.remote_id = 2;
    ASSERT_EQ(two.ranks[0].put(1, two.put({source.data(), size}, PH_ORDER_NONE)), PH_OK);
    EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, 2u);
    EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, 1u);
  }
}

TEST(Ids, a_fence_ends_although_no_id_before_it_has_credit) {
  Two two;
  const auto source = filled(64, 1);
  for (std::uint64_t i = 0; i < 10; ++i)
    ASSERT_EQ(two.ranks[0].put(1, two.put(source, PH_NO_LCE)), PH_OK);
  ASSERT_EQ(two.ranks[0].fence(1), PH_OK);
  const auto later = filled(64, 2);
  ASSERT_EQ(two.ranks[0].put(1, two.put(later, PH_NO_LCE | PH_NO_RCE | PH_DELIVERED)), PH_OK);
  // The target makes progress; its application probes nothing.
  EXPECT_TRUE(two.ranks.eventually([&] {
    return first_difference(two.memory.bytes().first(64), 2) == 64;
  })) << "the fence waits for the target's application";
  for (std::uint64_t i = 0; i < 10; ++i) EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
}

TEST(Ids, requests_and_events_come_back_whatever_way_an_operation_ends) {
  Two two;
  std::vector<std::byte> bytes(5000);
  const std::uint32_t flags[] = {0,
                                 PH_NO_LCE,
                                 PH_NO_RCE,
                                 PH_NO_LCE | PH_NO_RCE,
                                 PH_DELIVERED,
                                 PH_DELIVERED | PH_NO_LCE,
                                 PH_ORDER_NONE};
  for (int round = 0; round < 300; ++round) {  // far more than the 64 requests
    const std::size_t size = round % 3 == 0 ? 0 : round % 3 == 1 ? 100 : 5000;
    const auto put = two.put({bytes.data(), size}, flags[round % 7]);
    ASSERT_EQ(two.ranks[0].put(1, put), PH_OK) << "round " << round;
    if (round % 5 == 0) {
      ASSERT_EQ(two.ranks[0].fence(1), PH_OK);
    }
    if (round % 4 == 0) {
      ASSERT_EQ(two.ranks[0].get(1, two.get({bytes.data(), size}, PH_NO_LCE)), PH_OK);
    }
    for (int turn = 0; turn < 30; ++turn) {
      two.ranks.turn();
      two.count(0, PH_LOCAL);
      two.count(1, PH_REMOTE);
    }
  }
  const ph_put_args notice = two.put({}, PH_NO_RCE);
  for (int i = 0; i < 64; ++i) ASSERT_EQ(two.ranks[0].put(1, notice), PH_OK) << "leaked: " << i;
  EXPECT_EQ(two.ranks[0].put(1, notice), PH_AGAIN);
}

}  // namespace
}  // namespace photon::engine::test
