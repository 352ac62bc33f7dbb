// Announcing buffers: what is registered for how long, what waits, what ends how.
#include "lending_unit.hpp"

namespace photon::engine::test {
namespace {

TEST(Rendezvous, a_buffer_is_registered_while_it_is_announced_and_no_longer) {
  Lending two;
  const auto bytes = two.memory.bytes();
  ASSERT_EQ(two.announce(PH_RECV_BUFFER, bytes), PH_OK);
  ph_region found{};
  const ph_region range{two.memory.address(), bytes.size(), 0};
  EXPECT_EQ(two.ranks[0].find_region(range, found), PH_ERR_NOT_FOUND) << "for its peer only";
  ASSERT_TRUE(two.find(Lending::any(PH_RECV_BUFFER)));
  EXPECT_EQ(two.buffer.data, nullptr);
  std::vector<std::byte> early(8);
  ph_put_args first = two.put(early, PH_NO_RCE);
  first.target = two.buffer.target;
  EXPECT_EQ(two.ranks[1].put(0, first), PH_OK);
  static_cast<void>(two.ranks.take(1, PH_LOCAL));
  ASSERT_EQ(api::finish(two.ranks[1], two.buffer), PH_OK);
  ASSERT_TRUE(two.is_over());
  EXPECT_EQ(two.ended, PH_OK);
  EXPECT_EQ(two.result.size_bytes, bytes.size());
  EXPECT_EQ(two.ranks[0].find_region(range, found), PH_ERR_NOT_FOUND);
  std::vector<std::byte> late(8);
  ph_put_args args = two.put(late, PH_NO_RCE);
  args.target = two.buffer.target;
  EXPECT_EQ(two.ranks[1].put(0, args), PH_ERR_KEY) << "the key is stale";
}

TEST(Rendezvous, a_registration_around_it_is_used_if_it_grants_what_the_peer_needs) {
  Lending two;
  const ph_region all = two.ranks.add(0, two.memory.bytes(), PH_ACCESS_READ);
  ASSERT_EQ(two.announce(PH_SEND_BUFFER, two.memory.bytes().subspan(100, 5000)), PH_OK);
  ASSERT_TRUE(two.find(Lending::any(PH_SEND_BUFFER)));
  EXPECT_EQ(two.buffer.target.key, all.key);
  EXPECT_EQ(two.buffer.target.address, all.address + 100);
  ASSERT_EQ(api::finish(two.ranks[1], two.buffer), PH_OK);
  ASSERT_TRUE(two.is_over());
  ASSERT_EQ(two.announce(PH_RECV_BUFFER, two.memory.bytes().subspan(100, 5000)), PH_OK);
  ASSERT_TRUE(two.find(Lending::any(PH_RECV_BUFFER)));
  EXPECT_NE(two.buffer.target.key, all.key) << "that one may not be written";
  ASSERT_EQ(api::finish(two.ranks[1], two.buffer), PH_OK);
  ASSERT_TRUE(two.is_over());
  EXPECT_EQ(remove_region(two.ranks[0], all.key), PH_OK) << "is still its owner's";
}

// One buffer, or parts of it, lent to several: each has its right until its own announcement is
// over.
TEST(Rendezvous, what_is_lent_twice_stays_lent_until_both_are_over) {
  for (const std::size_t size : {16ul << 10, 5000ul}) {
    Lending two;
    ASSERT_EQ(two.announce(PH_SEND_BUFFER, two.memory.bytes(), 1), PH_OK);
    const ph_request first = two.request;
    ASSERT_EQ(two.announce(PH_SEND_BUFFER, two.memory.bytes().first(size), 2), PH_OK);
    const ph_request second = two.request;
    ASSERT_TRUE(two.find({PH_SEND_BUFFER, 0, 1, PH_ANY_SIZE}));
    ASSERT_EQ(api::finish(two.ranks[1], two.buffer), PH_OK);
    two.request = first;
    ASSERT_TRUE(two.is_over());
    ASSERT_TRUE(two.find({PH_SEND_BUFFER, 0, 2, PH_ANY_SIZE}));
    std::vector<std::byte> landed(size);
    ph_get_args args = get_args(landed, {}, two.local_id, two.remote_id);
    args.flags = PH_NO_RCE;
    ASSERT_EQ(api::get_buffer(two.ranks[1], two.buffer, 0, args), PH_OK);
    EXPECT_EQ(two.ranks.take(1, PH_LOCAL).status, PH_OK);
    ASSERT_EQ(api::finish(two.ranks[1], two.buffer), PH_OK);
    two.request = second;
    ASSERT_TRUE(two.is_over());
    EXPECT_EQ(two.ended, PH_OK);
  }
}

TEST(Rendezvous, a_small_send_buffer_comes_along_and_is_its_owners_at_once) {
  Lending two;
  const auto bytes = two.memory.bytes().first(two.ranks[0].config().packed_max);
  fill(bytes, 5);
  ASSERT_EQ(two.announce(PH_SEND_BUFFER, bytes), PH_OK);
  EXPECT_EQ(two.request, PH_REQUEST_NONE);
  fill(bytes, 6);
  EXPECT_EQ(two.ranks[0].resource_use().requests, 1u)
      << "its place is taken until the peer is done";
  ASSERT_TRUE(two.find(Lending::any(PH_SEND_BUFFER)));
  ASSERT_NE(two.buffer.data, nullptr);
  const std::span came(static_cast<const std::byte*>(two.buffer.data), bytes.size());
  EXPECT_EQ(first_difference(came, 5), bytes.size());
  std::vector<std::byte> landed(bytes.size() - 10);
  ph_request got = 1;
  ph_get_args args = get_args(landed, {}, two.local_id, two.remote_id);
  args.request = &got;
  ASSERT_EQ(api::get_buffer(two.ranks[1], two.buffer, 10, args), PH_OK);
  EXPECT_EQ(got, PH_REQUEST_NONE) << "read at once";
  EXPECT_EQ(std::memcmp(landed.data(), came.data() + 10, landed.size()), 0);
  EXPECT_EQ(two.ranks.take(0, PH_REMOTE).id, two.remote_id) << "its owner hears of the get";
  ASSERT_EQ(api::finish(two.ranks[1], two.buffer), PH_OK);
  two.turns();
  EXPECT_EQ(two.ranks[0].resource_use().requests, 0u);
  EXPECT_EQ(two.ranks[1].resource_use().blocks, 0u);
}

TEST(Rendezvous, a_wish_to_send_is_over_at_once_and_its_place_free_when_it_was_taken) {
  Lending two;
  ASSERT_EQ(two.announce(PH_SEND_REQUEST, {two.memory.data(), 1 << 20}), PH_OK);
  EXPECT_EQ(two.request, PH_REQUEST_NONE);
  EXPECT_EQ(two.ranks[0].resource_use().requests, 1u);
  ASSERT_TRUE(two.find({PH_SEND_REQUEST, 0, 7, 1 << 20}));
  EXPECT_EQ(two.buffer.token, 0u);
  EXPECT_EQ(two.buffer.target.key, 0u);
  EXPECT_EQ(api::finish(two.ranks[1], two.buffer), PH_ERR_NOT_FOUND);
  two.turns();
  EXPECT_EQ(two.ranks[0].resource_use().requests, 0u);
}

TEST(Rendezvous, announcements_without_a_line_wait_in_order_and_can_be_cancelled) {
  Lending two;
  two.fill_ring();
  const auto bytes = two.memory.bytes();
  std::vector<ph_request> requests;
  for (std::uint64_t i = 0; i < 3; ++i) {
    ASSERT_EQ(two.announce(PH_RECV_BUFFER, bytes.subspan(i * 100, 50), i), PH_OK);
    requests.push_back(two.request);
  }
  ph_outcome outcome{};
  EXPECT_EQ(two.ranks[0].cancel(requests[1], outcome), PH_OK);
  EXPECT_EQ(outcome, PH_CANCELLED);
  EXPECT_EQ(requests[1], PH_REQUEST_NONE);
  ph_region found{};
  EXPECT_EQ(two.ranks[0].find_region({two.memory.address() + 100, 50, 0}, found), PH_ERR_NOT_FOUND);
  for (const std::uint64_t tag : {0, 2}) {
    ASSERT_TRUE(two.find(Lending::any(PH_RECV_BUFFER)));
    EXPECT_EQ(two.buffer.tag, tag);
    ASSERT_EQ(api::finish(two.ranks[1], two.buffer), PH_OK);
  }
  two.request = requests[0];
  ASSERT_TRUE(two.is_over());
  two.request = requests[2];
  ASSERT_TRUE(two.is_over());
  EXPECT_EQ(two.look(Lending::any(PH_RECV_BUFFER)), PH_AGAIN);
}

TEST(Rendezvous, what_has_gone_is_called_back_if_nobody_has_taken_it) {
  Lending two;
  ASSERT_EQ(two.announce(PH_RECV_BUFFER, two.memory.bytes()), PH_OK);
  two.turns();
  ph_outcome outcome{};
  for (int twice = 0; twice < 2; ++twice) {
    EXPECT_EQ(two.ranks[0].cancel(two.request, outcome), PH_OK);
    EXPECT_EQ(outcome, PH_TOO_LATE);
  }
  ASSERT_TRUE(two.is_over());
  EXPECT_EQ(two.ended, PH_ERR_NOT_FOUND);
  EXPECT_EQ(two.look(Lending::any(PH_RECV_BUFFER)), PH_AGAIN);
  EXPECT_EQ(two.ranks[0].resource_use().requests, 0u);
}

TEST(Rendezvous, what_was_taken_is_not_called_back) {
  Lending two;
  ASSERT_EQ(two.announce(PH_RECV_BUFFER, two.memory.bytes()), PH_OK);
  ASSERT_TRUE(two.find(Lending::any(PH_RECV_BUFFER)));
  ph_outcome outcome{};
  EXPECT_EQ(two.ranks[0].cancel(two.request, outcome), PH_OK);
  two.turns();
  EXPECT_EQ(two.test(), PH_AGAIN);
  ASSERT_EQ(api::finish(two.ranks[1], two.buffer), PH_OK);
  ASSERT_TRUE(two.is_over());
  EXPECT_EQ(two.ended, PH_OK);
}

TEST(Rendezvous, a_quarter_of_the_requests_is_left_to_transfers_also_by_those_over_at_once) {
  Lending two;
  const auto most = two.ranks[0].config().requests / 4 * 3;
  for (std::uint64_t i = 0; i < most; ++i)
    ASSERT_EQ(two.announce(PH_SEND_REQUEST, {two.memory.data(), i}, i), PH_OK) << i;
  EXPECT_EQ(two.announce(PH_SEND_REQUEST, {}), PH_AGAIN);
  ASSERT_TRUE(two.find({PH_SEND_REQUEST, 0, 40, 40}));
  two.turns();
  EXPECT_EQ(two.announce(PH_RECV_BUFFER, two.memory.bytes()), PH_OK);
}

TEST(Rendezvous, no_slot_for_a_registration_is_an_error_that_takes_nothing) {
  Lending two;
  const auto bytes = two.memory.bytes();
  for (std::size_t i = 0; i < two.ranks[0].config().max_regions; ++i)
    ASSERT_EQ(two.announce(PH_RECV_BUFFER, bytes.subspan(i * 10, 5), i), PH_OK);
  two.request = 5;
  EXPECT_EQ(two.announce(PH_RECV_BUFFER, bytes.subspan(9000, 5)), PH_ERR_MEMORY);
  EXPECT_EQ(two.request, 5u);
  EXPECT_EQ(two.ranks[0].resource_use().requests, two.ranks[0].config().max_regions);
}

TEST(Rendezvous, announcements_to_a_peer_that_is_lost_end_with_its_error) {
  Lending two;
  ASSERT_EQ(two.announce(PH_RECV_BUFFER, two.memory.bytes()), PH_OK);
  two.ranks.net().seats[0].gone[1] = {PH_ERR_PEER, 0, "it has ended", 1};
  ASSERT_TRUE(two.is_over());
  EXPECT_EQ(two.ended, PH_ERR_PEER);
  EXPECT_EQ(two.result.size_bytes, 0u);
  ph_region found{};
  EXPECT_EQ(two.ranks[0].find_region({two.memory.address(), 16 << 10, 0}, found), PH_ERR_NOT_FOUND);
  EXPECT_EQ(two.announce(PH_RECV_BUFFER, two.memory.bytes()), PH_ERR_PEER);
  EXPECT_EQ(two.ranks[0].resource_use().requests, 0u);
}

TEST(Rendezvous, finalize_does_not_wait_longer_than_its_limit_for_a_finish_that_never_comes) {
  FakeOptions chosen = options();
  chosen.config.finalize_timeout_ms = 20;
  Lending two(chosen);
  ASSERT_EQ(two.announce(PH_RECV_BUFFER, two.memory.bytes()), PH_OK);
  two.ranks.lane(0).close();
  LaneGuard guard(two.ranks.lane(0), LaneGuard::Kind::closed_too);
  EXPECT_EQ(two.ranks[0].finalize(guard), PH_TIMEOUT);
}

TEST(Rendezvous, finalize_does_not_wait_for_what_was_over_at_once) {
  FakeOptions chosen = options();
  chosen.config.finalize_timeout_ms = 1'000'000;
  Lending two(chosen);
  ASSERT_EQ(two.announce(PH_SEND_REQUEST, {}), PH_OK);
  ASSERT_EQ(two.announce(PH_SEND_BUFFER, two.memory.bytes().first(8)), PH_OK);
  two.ranks.lane(0).close();
  LaneGuard guard(two.ranks.lane(0), LaneGuard::Kind::closed_too);
  EXPECT_EQ(two.ranks[0].finalize(guard), PH_OK);
}

}  // namespace
}  // namespace photon::engine::test
