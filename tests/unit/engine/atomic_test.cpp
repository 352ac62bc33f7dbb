// Atomics of the engine: which way each takes, order, ids, refusals, cancelling.
#include <cstring>

#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

// Rank 0 changes the first words of rank 1's memory; `mapped`: by itself where it may.
struct Changing : Two {
  explicit Changing(bool mapped = false, bool keys_visible = true)
      : Two(options(mapped ? Reach::Kind::mapped : Reach::Kind::none, keys_visible)) {}

  ph_status add(std::uint64_t more, std::uint32_t flags = 0, std::size_t word = 0) {
    ph_atomic_args args{};
    args.size = sizeof args;
    args.target = ph_at(&region, word * 8);
    args.op = PH_OP_ADD;
    args.type = PH_UINT64;
    args.operand.uint64 = more;
    args.fetched = &fetched;
    args.local = id_of(local_id);
    args.remote = id_of(remote_id);
    args.flags = flags;
    args.request = request;
    return ranks[0].atomic(1, args);
  }
  std::uint64_t word(std::size_t index = 0) {
    std::uint64_t value = 0;
    std::memcpy(&value, memory.data() + index * 8, sizeof value);
    return value;
  }
  wire::Header last_record() {
    const auto& line = ranks.link(0, 1).tx_lines[1];  // line 0 was the meeting
    return *wire::decode(line.tag_word() & ~0xffffull);
  }

  std::uint64_t fetched = 1000;
  ph_request* request = nullptr;
};

TEST(Atomic, on_mapped_memory_it_is_over_when_the_call_returns) {
  Changing two(true);
  ASSERT_EQ(two.add(5), PH_OK);
  EXPECT_EQ(two.word(), 5u);
  EXPECT_EQ(two.fetched, 0u);
  EXPECT_EQ(two.ranks.probe(0, PH_LOCAL).size(), 1u);
  EXPECT_EQ(two.last_record().kind, wire::Kind::put) << "a notification";
  EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
  EXPECT_EQ(two.ranks[0].resource_use().requests, 0u);
}

TEST(Atomic, elsewhere_its_owner_carries_it_out_and_answers) {
  Changing two;
  ASSERT_EQ(two.add(5), PH_OK);
  EXPECT_EQ(two.word(), 0u);
  EXPECT_EQ(two.last_record().kind, wire::Kind::atomic);
  EXPECT_EQ(two.last_record().id_bytes, 8u) << "the id goes with it";
  EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
  EXPECT_EQ(two.word(), 5u);
  EXPECT_EQ(two.fetched, 1000u) << "the answer was not read";
  EXPECT_EQ(two.ranks.take(0, PH_LOCAL).id, two.local_id);
  EXPECT_EQ(two.fetched, 0u);
  EXPECT_EQ(two.ranks[0].resource_use().requests, 0u);
}

TEST(Atomic, one_that_needs_nobody_does_not_overtake_one_that_does) {
  Changing two(true, false);  // the keys cannot be seen: all go by record
  ASSERT_EQ(two.add(1), PH_OK);
  two.ranks.net().options.keys_visible = true;
  ASSERT_EQ(two.add(2), PH_OK);
  EXPECT_EQ(two.word(), 0u);
  EXPECT_EQ(two.ranks.take(0, PH_LOCAL).status, PH_OK);
  EXPECT_EQ(two.ranks.take(0, PH_LOCAL).status, PH_OK);
  EXPECT_EQ(two.fetched, 1u) << "of the second";
}

TEST(Atomic, without_ledger_credit_it_is_carried_out_and_its_id_comes_later_in_order) {
  Changing two;
  for (std::uint64_t i = 0; i < 4; ++i) ASSERT_EQ(two.ranks[0].notify(1, i), PH_OK);
  ASSERT_EQ(two.add(5), PH_OK);
  ASSERT_EQ(two.ranks[0].notify(1, 99), PH_OK);
  EXPECT_EQ(two.ranks.take(0, PH_LOCAL).id, two.local_id);
  EXPECT_EQ(two.word(), 5u);
  std::vector<std::uint64_t> ids;
  for (int i = 0; i < 6; ++i) ids.push_back(two.ranks.take(1, PH_REMOTE).id);
  EXPECT_EQ(ids, (std::vector<std::uint64_t>{0, 1, 2, 3, two.remote_id, 99}));
}

TEST(Atomic, a_refused_one_changes_nothing_and_takes_its_id_with_it) {
  Changing two(false, false);
  two.region.key ^= std::uint64_t{1} << 40;
  ASSERT_EQ(two.add(5), PH_OK);
  const ph_completion one = two.ranks.take(0, PH_LOCAL);
  EXPECT_EQ(one.status, PH_ERR_KEY);
  EXPECT_EQ(one.id, two.local_id);
  EXPECT_EQ(two.word(), 0u);
  EXPECT_EQ(two.count(1, PH_REMOTE), 0u);
  EXPECT_EQ(two.fetched, 1000u);
}

TEST(Atomic, fetching_needs_the_right_to_read) {
  Changing two;
  const ph_region write_only = two.ranks.add(1, two.memory.bytes().first(64), PH_ACCESS_WRITE);
  two.region = write_only;
  EXPECT_EQ(two.add(5), PH_ERR_ACCESS);
  ph_atomic_args args{};
  args.size = sizeof args;
  args.target = ph_at(&write_only, 0);
  args.op = PH_OP_ADD;
  args.type = PH_UINT64;
  args.operand.uint64 = 3;
  args.flags = PH_NO_LCE;
  EXPECT_EQ(two.ranks[0].atomic(1, args), PH_OK);
  EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id_size_bytes, 0u);
  EXPECT_EQ(two.word(), 3u);
}

TEST(Atomic, behind_a_fence_it_waits_and_can_be_cancelled) {
  Changing two;
  const auto source = filled(500, 3);
  ASSERT_EQ(two.ranks[0].put(1, two.put(source, PH_NO_LCE | PH_NO_RCE)), PH_OK);
  ASSERT_EQ(two.ranks[0].fence(1), PH_OK);
  ph_request request = 0;
  two.request = &request;
  ASSERT_EQ(two.add(5, PH_NO_RCE, 100), PH_OK);
  ph_outcome outcome{};
  EXPECT_EQ(two.ranks[0].cancel(request, outcome), PH_OK);
  EXPECT_EQ(outcome, PH_CANCELLED);
  ASSERT_EQ(two.add(6, PH_NO_RCE, 100), PH_OK);
  ph_result result{};
  ASSERT_TRUE(two.ranks.eventually([&] { return two.ranks[0].test(request, result) == PH_OK; }));
  EXPECT_EQ(two.word(100), 6u);
  EXPECT_EQ(result.size_bytes, 8u);
}

TEST(Atomic, to_a_lost_peer_ends_with_its_error) {
  Changing two;
  ASSERT_EQ(two.add(5), PH_OK);
  two.ranks.net().seats[0].gone[1] = {PH_ERR_PEER, 0, "it has ended", 1};
  EXPECT_EQ(two.ranks.take(0, PH_LOCAL).status, PH_ERR_PEER);
  EXPECT_EQ(two.ranks[0].resource_use().requests, 0u);
}

}  // namespace
}  // namespace photon::engine::test
