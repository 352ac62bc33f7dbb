// Requests: done at once or later, taken once, by one; waits; cancelling; what becomes of them when
// things fail.
#include <algorithm>
#include <array>
#include <thread>

#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

TEST(RequestPool, that_was_trimmed_knows_no_token_of_before) {
  constexpr std::uint64_t kUsual = 4096, kMany = 10'000;
  RequestPool pool(kMany);
  const auto take_all = [&pool] {
    std::vector<Request*> all;
    while (Request* request = pool.take()) all.push_back(request);
    return all;
  };
  const auto all = take_all();
  ASSERT_EQ(all.size(), kMany);
  std::vector<std::uint64_t> tokens;
  for (Request* request : all) tokens.push_back(RequestPool::token(*request));
  pool.give(*all[0]);
  pool.trim();
  EXPECT_EQ(pool.find_used(tokens[1]), all[1]) << "it is in use";
  for (std::size_t i = 1; i < kMany; ++i) pool.give(*all[i]);
  pool.trim();
  for (const std::uint64_t token : tokens) ASSERT_EQ(pool.find_used(token), nullptr);
  EXPECT_TRUE(pool.has_free());
  const auto again = take_all();
  ASSERT_EQ(again.size(), kMany);
  EXPECT_TRUE(pool.exhausted());
  for (const std::uint64_t token : tokens) ASSERT_EQ(pool.find_used(token), nullptr);
  std::vector<bool> seen(kMany);
  for (std::size_t i = 0; i < kMany; ++i) {
    ASSERT_EQ(pool.find_used(RequestPool::token(*again[i])), again[i]);
    ASSERT_FALSE(seen[again[i]->index]);
    seen[again[i]->index] = true;
    EXPECT_TRUE(i >= kUsual || again[i]->index < kUsual) << "those that were kept come first";
  }
}

// What queued by the thousand goes back to the system when the rank rests.
TEST(RequestPool, and_payloads_beyond_the_usual_are_given_back_when_nothing_is_under_way) {
  constexpr std::uint64_t kPuts = 10'000;
  FakeOptions chosen = options();
  chosen.config.requests = 16384;
  Two two(chosen);
  const auto source = filled(8, 1);
  for (std::uint64_t i = 0; i < kPuts; ++i) ASSERT_EQ(two.ranks[0].put(1, two.put(source)), PH_OK);
  EXPECT_GT(two.ranks[0].resource_use().most_blocks, kPuts / 2);
  for (std::uint64_t i = 0; i < kPuts; ++i)
    ASSERT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
  const auto rest = [&two] {
    LaneGuard guard(two.ranks.lane(0));
    EXPECT_EQ(two.ranks[0].wait(guard, {1, PH_REMOTE, nullptr}, 1000), PH_TIMEOUT);
  };
  rest();
  while (two.count(0, PH_LOCAL) != 0) {
  }
  EXPECT_EQ(two.ranks[0].resource_use().events, 0);
  for (int i = 0; i < 10; ++i) rest();
  EXPECT_EQ(two.ranks[0].resource_use().requests, 0u);
  EXPECT_LE(two.ranks[0].resource_use().most_blocks, kPuts / 2);
  ASSERT_EQ(two.ranks[0].put(1, two.put(source)), PH_OK);
  EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
  EXPECT_EQ(two.ranks.take(0, PH_LOCAL).id, two.local_id);
}

// Operations of rank 0 with requests, to rank 1's memory.
struct Requested : Two {
  explicit Requested(const FakeOptions& chosen = options()) : Two(chosen) {}

  ph_status start_put(std::span<const std::byte> source, std::uint32_t flags = 0) {
    ph_put_args args = put(source, flags);
    args.request = &handle;
    return ranks[0].put(1, args);
  }
  ph_status start_get(std::span<std::byte> destination) {
    ph_get_args args = get(destination, PH_NO_RCE);
    args.request = &handle;
    return ranks[0].get(1, args);
  }
  ph_status test() { return ranks[0].test(handle, result); }
  ph_status await(ph_request& which, std::int64_t timeout_us = 0) {
    LaneGuard guard(ranks.lane(0));
    return ranks[0].wait_one(guard, which, result, timeout_us);
  }
  ph_status await_list(std::span<ph_request> handles, RequestSweep& sweep) {
    LaneGuard guard(ranks.lane(0));
    sweep.list = {handles.data(), handles.size()};
    return ranks[0].wait_some(guard, sweep, 0);
  }
  // With no ledger credit left, what has an id waits.
  void use_up_the_ledger() {
    for (std::uint64_t i = 0; i < 4; ++i) ASSERT_EQ(ranks[0].notify(1, i), PH_OK);
  }

  ph_request handle = 77;
  ph_result result{};
};

TEST(Requests, an_operation_that_is_over_when_the_call_returns_leaves_none) {
  Requested two;
  const auto source = filled(32, 3);
  ASSERT_EQ(two.start_put(source), PH_OK);
  EXPECT_EQ(two.handle, PH_REQUEST_NONE);
  EXPECT_EQ(two.test(), PH_OK) << "there is nothing to wait for";
  EXPECT_EQ(two.result.peer, PH_ANY_RANK);
  EXPECT_EQ(two.count(0, PH_LOCAL), 0u) << "and nothing to probe";
  EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
}

TEST(Requests, a_call_that_is_refused_leaves_the_place_as_it_was) {
  Requested two;
  const auto source = filled(32, 3);
  EXPECT_EQ(two.start_put(source, PH_NO_LCE), PH_ERR_ARGUMENT);
  two.region.key ^= std::uint64_t{1} << 40;
  EXPECT_EQ(two.start_put(source), PH_ERR_KEY);
  EXPECT_EQ(two.handle, 77u);
}

TEST(Requests, a_get_is_done_when_its_data_is_here_and_is_taken_once) {
  Requested two;
  fill(two.memory.bytes().first(500), 9);
  std::vector<std::byte> destination(500);
  ASSERT_EQ(two.start_get(destination), PH_OK);
  ASSERT_NE(two.handle, PH_REQUEST_NONE);
  EXPECT_EQ(two.test(), PH_AGAIN);
  const ph_request stale = two.handle;
  ASSERT_TRUE(two.ranks.eventually([&] { return two.test() == PH_OK; }));
  EXPECT_EQ(two.handle, PH_REQUEST_NONE);
  EXPECT_EQ(two.result.size_bytes, 500u);
  EXPECT_EQ(two.result.peer, 1u);
  EXPECT_EQ(first_difference(destination, 9), 500u);
  two.handle = stale;
  EXPECT_EQ(two.test(), PH_ERR_NOT_FOUND);
  EXPECT_EQ(two.await(two.handle), PH_ERR_NOT_FOUND);
  EXPECT_EQ(two.ranks[0].resource_use().requests, 0u);
  EXPECT_EQ(two.ranks[0].resource_use().events, 0);
}

TEST(Requests, one_that_was_not_taken_counts_against_the_limit_and_no_more_once_it_was) {
  Requested two;
  std::vector<std::byte> destination(500);
  std::vector<ph_request> handles;
  while (two.start_get(destination) == PH_OK) handles.push_back(two.handle);
  EXPECT_EQ(handles.size(), two.ranks[0].config().requests);
  for (ph_request& handle : handles) {
    ASSERT_TRUE(two.ranks.eventually([&] { return two.await(handle) == PH_OK; }));
    if (&handle == &handles.front()) {
      EXPECT_EQ(two.start_get(destination), PH_OK) << "there is room for one again";
    }
  }
  ASSERT_TRUE(two.ranks.eventually([&] { return two.test() == PH_OK; }));
  EXPECT_EQ(two.ranks[0].resource_use().requests, 0u);
}

TEST(Requests, a_wait_for_one_leaves_the_others) {
  Requested two;
  std::vector<std::byte> destination(500);
  std::array<ph_request, 3> handles{};
  for (ph_request& handle : handles) {
    ASSERT_EQ(two.start_get(destination), PH_OK);
    handle = two.handle;
  }
  ASSERT_TRUE(two.ranks.eventually([&] { return two.await(handles[2]) == PH_OK; }));
  for (int i = 0; i < 100; ++i) two.ranks.turn();
  ph_result results[3];
  RequestSweep one{{}, results, 1};
  EXPECT_EQ(two.await_list(handles, one), PH_OK);
  EXPECT_EQ(one.done, 1u);
  EXPECT_EQ(results[0].index, 0u);
  EXPECT_NE(handles[1], PH_REQUEST_NONE);
  RequestSweep rest{{}, results, 3};
  EXPECT_EQ(two.await_list(handles, rest), PH_OK);
  EXPECT_EQ(rest.done, 1u);
  EXPECT_EQ(results[0].index, 1u);
  RequestSweep none{{}, results, 3};
  EXPECT_EQ(two.await_list(handles, none), PH_ERR_NOT_FOUND);
  EXPECT_EQ(results[0].index, 3u) << "all are none";
}

TEST(Requests, a_stale_entry_of_a_list_is_named_and_nothing_is_taken) {
  Requested two;
  std::vector<std::byte> destination(8);
  ASSERT_EQ(two.start_get(destination), PH_OK);
  for (int i = 0; i < 100; ++i) two.ranks.turn();
  std::array<ph_request, 2> handles{two.handle, 12345};
  ph_result results[2];
  RequestSweep sweep{{}, results, 2};
  EXPECT_EQ(two.await_list(handles, sweep), PH_ERR_NOT_FOUND);
  EXPECT_EQ(results[0].index, 1u);
  EXPECT_EQ(sweep.done, 0u);
  EXPECT_EQ(two.test(), PH_OK);
}

TEST(Requests, a_time_limit_ends_the_wait_and_not_the_operation) {
  Requested two;
  std::vector<std::byte> destination(8);
  ASSERT_EQ(two.start_get(destination), PH_OK);
  EXPECT_EQ(two.await(two.handle), PH_TIMEOUT);
  std::array<ph_request, 1> handles{two.handle};
  ph_result results[1];
  RequestSweep sweep{{}, results, 1};
  EXPECT_EQ(two.await_list(handles, sweep), PH_TIMEOUT);
  ASSERT_TRUE(two.ranks.eventually([&] { return two.test() == PH_OK; }));
}

TEST(Requests, what_waits_for_credit_can_be_cancelled_and_leaves_nothing) {
  Requested two;
  two.use_up_the_ledger();
  const auto source = filled(600, 3);
  ASSERT_EQ(two.start_put(filled(32, 5), PH_DELIVERED), PH_OK);
  ph_request later = two.handle;
  ASSERT_EQ(two.start_put(source, PH_NO_RCE), PH_OK) << "needs no ledger: goes at once";
  ph_outcome outcome{};
  two.ranks[0].notify(1, 99);  // stands behind
  EXPECT_EQ(two.ranks[0].cancel(later, outcome), PH_OK);
  // PH_DELIVERED sends the payload ahead of its id: it has gone.
  EXPECT_EQ(outcome, PH_TOO_LATE);
  ph_put_args args = two.put(source);
  args.request = &later;
  ASSERT_EQ(two.ranks[0].fence(1), PH_OK);
  ASSERT_EQ(two.ranks[0].put(1, args), PH_OK) << "behind a fence";
  EXPECT_EQ(two.ranks[0].cancel(later, outcome), PH_OK);
  EXPECT_EQ(outcome, PH_CANCELLED);
  EXPECT_EQ(later, PH_REQUEST_NONE);
  std::vector<std::uint64_t> ids;
  for (int i = 0; i < 300; ++i) {
    two.ranks.turn();
    for (const ph_completion& one : two.ranks.probe(1, PH_REMOTE)) ids.push_back(one.id);
  }
  EXPECT_EQ(ids, (std::vector<std::uint64_t>{0, 1, 2, 3, two.remote_id, 99}));
}

TEST(Requests, a_get_that_was_asked_for_is_too_late_to_cancel_and_one_that_is_over_is_done) {
  Requested two;
  std::vector<std::byte> destination(8);
  ASSERT_EQ(two.start_get(destination), PH_OK);
  ph_outcome outcome{};
  EXPECT_EQ(two.ranks[0].cancel(two.handle, outcome), PH_OK);
  EXPECT_EQ(outcome, PH_TOO_LATE);
  for (int i = 0; i < 100; ++i) two.ranks.turn();
  EXPECT_EQ(two.ranks[0].cancel(two.handle, outcome), PH_OK);
  EXPECT_EQ(outcome, PH_ALREADY_DONE);
  EXPECT_EQ(two.test(), PH_OK);
  EXPECT_EQ(two.ranks[0].cancel(two.handle, outcome), PH_ERR_NOT_FOUND);
}

TEST(Requests, of_a_peer_that_is_lost_end_with_its_error) {
  Requested two;
  std::vector<std::byte> destination(8);
  ASSERT_EQ(two.start_get(destination), PH_OK);
  two.ranks.net().seats[0].gone[1] = {PH_ERR_PEER, 0, "it has ended", 1};
  ASSERT_TRUE(two.ranks.eventually([&] { return two.test() != PH_AGAIN; }));
  EXPECT_EQ(two.result.status, PH_ERR_PEER);
  EXPECT_EQ(two.result.peer, 1u);
  EXPECT_EQ(two.result.size_bytes, 0u);
}

// The keys of the fake transport cannot be seen: the target refuses when the bytes are there.
TEST(Requests, a_refusal_that_comes_late_is_told_by_the_request_as_long_as_it_was_not_taken) {
  Requested two(options(Reach::Kind::none, false));
  two.region.key ^= std::uint64_t{1} << 40;
  const auto source = filled(60'000, 3);  // more than the bulk ring holds
  ASSERT_EQ(two.start_put(source), PH_OK);
  ASSERT_NE(two.handle, PH_REQUEST_NONE);
  for (int i = 0; i < 1000; ++i) two.ranks.turn();
  EXPECT_EQ(two.test(), PH_ERR_KEY);
  EXPECT_EQ(two.count(0, PH_LOCAL), 0u);
}

// One takes what both wait for.
TEST(Requests, two_waits_for_the_same_list_both_end) {
  Requested two;
  std::vector<std::byte> destination(8);
  ASSERT_EQ(two.start_get(destination), PH_OK);
  std::array<ph_request, 1> handles{two.handle};
  const auto wait = [&](ph_status& status) {
    ph_result result[1];
    RequestSweep sweep{{handles.data(), 1}, result, 1};
    LaneGuard guard(two.ranks.lane(0));
    status = two.ranks[0].wait_some(guard, sweep, 20'000'000);
  };
  ph_status first = PH_AGAIN, second = PH_AGAIN;
  std::thread one([&] { wait(first); });
  std::thread other([&] { wait(second); });
  two.ranks.fake(0).await_sleeper();
  {
    LaneGuard guard(two.ranks.lane(0));  // they are not inside while the other rank moves
    for (int i = 0; i < 200; ++i) two.ranks[1].serve();
  }
  two.ranks.fake(0).wake();
  one.join();
  other.join();
  EXPECT_EQ(std::min(first, second), PH_ERR_NOT_FOUND);
  EXPECT_EQ(std::max(first, second), PH_OK);
}

TEST(Requests, finalize_tells_of_the_error_of_one_that_nobody_took) {
  FakeOptions chosen = options(Reach::Kind::none, false);
  chosen.config.finalize_timeout_ms = 20;  // the peer stands still and gives no verdict
  Requested two(chosen);
  two.region.key ^= std::uint64_t{1} << 40;
  const auto source = filled(60'000, 3);
  ASSERT_EQ(two.start_put(source), PH_OK);
  for (int i = 0; i < 1000; ++i) two.ranks.turn();
  two.ranks.lane(0).close();
  LaneGuard guard(two.ranks.lane(0), LaneGuard::Kind::closed_too);
  EXPECT_EQ(two.ranks[0].finalize(guard), PH_ERR_KEY);
}

}  // namespace
}  // namespace photon::engine::test
