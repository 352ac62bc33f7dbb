// Ids beyond the ledger of a peer that does not see this rank's memory: they wait here, and their
// operations are over.
#include <chrono>

#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

using photon::test::fill;

FakeOptions late() {
  FakeOptions chosen = options();  // ledger_slots is 4, requests 64
  chosen.config.overflow_total_bytes = 1 << 30;
  chosen.config.max_cid_size = 64;
  return chosen;
}

// Rank 0 sends, rank 1 receives.
struct Late : Two {
  explicit Late(const FakeOptions& chosen = late()) : Two(chosen) {}

  // Its ids are the next number.
  ph_status put(std::span<const std::byte> source, std::uint32_t flags = 0) {
    local_id = remote_id = next;
    const ph_status status = ranks[0].put(1, Two::put(source, flags));
    if (status == PH_OK) ++next;
    return status;
  }
  // As many completions as that, in order; rank 1's application takes nothing.
  void expect_locals(std::uint64_t count) {
    std::uint64_t expected = 0;
    EXPECT_TRUE(ranks.eventually([&] {
      for (const ph_completion& one : ranks.probe(0, PH_LOCAL)) {
        EXPECT_EQ(one.id, expected++);
        EXPECT_EQ(one.status, PH_OK);
      }
      return expected == count;
    }));
    EXPECT_EQ(ranks[0].resource_use().requests, 0u);
  }
  void expect_remotes(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) ASSERT_EQ(ranks.take(1, PH_REMOTE).id, i);
    EXPECT_EQ(ranks[0].resource_use().queued, 0u);
    EXPECT_EQ(ranks[0].resource_use().blocks, 0u);
    EXPECT_EQ(ranks[0].resource_use().events, 0);
  }
  void lose() {
    ranks.net().seats[0].gone[1] = {PH_ERR_PEER, 0, "the cable was cut", 1};
    ranks[0].serve();
  }

  std::uint64_t next = 0;
};

TEST(LateIds, of_puts_of_every_size_leave_nothing_but_themselves_and_come_in_order) {
  for (const std::size_t size : {0, 8, 100, 700, 30000}) {
    SCOPED_TRACE(size);
    Late two;
    const auto source = filled(size, 1);
    for (int i = 0; i < 30; ++i) ASSERT_EQ(two.put(source), PH_OK);
    two.expect_locals(30);
    EXPECT_EQ(two.ranks[0].resource_use().queued, 26u);
    EXPECT_EQ(first_difference(two.memory.bytes().first(size), 1), size) << "it has landed";
    two.expect_remotes(30);
    ASSERT_EQ(two.put(source), PH_OK);
    EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, 30u);
  }
}

// One by one they would take a trip each.
TEST(LateIds, payloads_go_ahead_of_all_that_wait_at_once) {
  Late two;
  const auto source = filled(8, 1);
  for (int i = 0; i < 40; ++i) ASSERT_EQ(two.put(source), PH_OK);
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(1))
    two.ranks[0].serve();
  std::size_t found = 0;
  for (int i = 0; i < 3; ++i) {
    two.ranks.turn();
    found += two.count(0, PH_LOCAL);
  }
  EXPECT_EQ(found, 40u);
  two.expect_remotes(40);
}

TEST(LateIds, may_be_long) {
  Late two;
  for (std::uint64_t i = 0; i < 30; ++i) {
    std::uint64_t id[5] = {i, 1, 2, 3, 4};
    ph_put_args args = two.Two::put({}, PH_NO_LCE);
    args.remote = {id, sizeof id};
    ASSERT_EQ(two.ranks[0].put(1, args), PH_OK);
    fill(std::as_writable_bytes(std::span(id)), 9);
  }
  EXPECT_EQ(two.ranks[0].resource_use().blocks, 26u);
  for (std::uint64_t i = 0; i < 30; ++i) {
    const ph_completion one = two.ranks.take(1, PH_REMOTE);
    ASSERT_EQ(one.id_size_bytes, 40u);
    EXPECT_EQ(one.id, i);
    EXPECT_EQ(static_cast<const std::uint64_t*>(one.long_id)[4], 4u);
  }
  EXPECT_EQ(two.ranks[0].resource_use().blocks, 0u);
}

TEST(LateIds, that_find_no_room_are_held_back_as_requests_and_then_refused) {
  FakeOptions chosen = late();
  chosen.config.overflow_bytes = 4096;  // 102 ids
  Late two(chosen);
  while (two.put({}, PH_NO_LCE) == PH_OK) {
  }
  EXPECT_EQ(two.next, 4u + 102 + 64);
  EXPECT_EQ(two.ranks[0].resource_use().requests, 64u);
  two.expect_remotes(two.next);
}

TEST(LateIds, of_all_peers_together_find_room_in_overflow_total_bytes) {
  FakeOptions chosen = late();
  chosen.config.overflow_total_bytes = 10 * sizeof(LateId);
  Late two(chosen);
  while (two.put({}, PH_NO_LCE) == PH_OK) {
  }
  EXPECT_EQ(two.next, 4u + 10 + 64);
  two.expect_remotes(two.next);
}

TEST(LateIds, are_reported_to_the_request_while_its_caller_has_not_taken_it) {
  Late two;
  const auto source = filled(8, 1);
  for (int i = 0; i < 4; ++i) ASSERT_EQ(two.put({}, PH_NO_LCE), PH_OK);
  ph_request request = PH_REQUEST_NONE;
  ph_put_args args = two.Two::put(source);
  args.request = &request;
  ASSERT_EQ(two.ranks[0].put(1, args), PH_OK);
  ASSERT_NE(request, PH_REQUEST_NONE);
  EXPECT_TRUE(two.ranks.eventually([&] { return two.ranks[0].resource_use().queued == 1; }));
  two.lose();
  ph_result result{};
  EXPECT_EQ(two.ranks[0].test(request, result), PH_ERR_PEER);
  EXPECT_EQ(two.count(0, PH_LOCAL), 0u);
  EXPECT_EQ(two.ranks[0].resource_use().requests, 0u);
}

TEST(LateIds, are_reported_when_the_peer_is_lost_unless_a_landing_was_all_that_was_asked_for) {
  Late two;
  const auto source = filled(8, 1);
  for (int i = 0; i < 10; ++i) ASSERT_EQ(two.put({}), PH_OK);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(two.put(source, PH_DELIVERED), PH_OK);
  two.expect_locals(13);
  EXPECT_EQ(two.ranks[0].resource_use().queued, 9u);
  two.lose();
  const auto found = two.ranks.probe(0, PH_LOCAL);
  ASSERT_EQ(found.size(), 6u);
  for (std::uint64_t i = 0; i < 6; ++i) {
    EXPECT_EQ(found[i].id, 4 + i);
    EXPECT_EQ(found[i].status, PH_ERR_PEER);
  }
  EXPECT_EQ(two.ranks[0].resource_use().queued, 0u);
  EXPECT_EQ(two.ranks[0].resource_use().events, 0);
}

}  // namespace
}  // namespace photon::engine::test
