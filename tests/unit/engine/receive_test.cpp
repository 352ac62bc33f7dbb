// Taking records: what lands, what is told to whom, and which credits go back.
#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

TEST(Receive, a_probe_for_local_ids_places_incoming_bytes_and_keeps_the_ids) {
  Two two;
  const auto source = filled(5000, 8);
  ASSERT_EQ(two.ranks[0].put(1, two.put(source)), PH_OK);
  EXPECT_TRUE(two.ranks.eventually([&] {
    EXPECT_EQ(two.count(1, PH_LOCAL), 0u);
    return first_difference(two.memory.bytes().first(5000), 8) == 5000;
  }));
  EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
}

TEST(Receive, ledger_credit_comes_back_with_probes_only_and_line_credit_with_progress) {
  Two two;
  const auto& credits = two.ranks.net().way(0, 1).credits;
  const auto ledger = credits.ledger_given();
  for (std::uint64_t i = 0; i < 4; ++i)
    ASSERT_EQ(two.ranks[0].put(1, two.put({}, PH_NO_LCE)), PH_OK);
  for (int i = 0; i < 100; ++i) two.ranks.turn();
  EXPECT_EQ(credits.ledger_given(), ledger);
  EXPECT_EQ(two.count(1, PH_REMOTE), 4u);
  EXPECT_EQ(credits.ledger_given(), ledger + 4);
  const auto lines = credits.lines_given();
  for (int i = 0; i < 40; ++i)
    ASSERT_EQ(two.ranks[0].put(1, two.put({two.memory.data(), 8}, PH_NO_LCE | PH_NO_RCE)), PH_OK);
  for (int i = 0; i < 10; ++i) two.ranks.turn();
  EXPECT_GE(credits.lines_given(), lines + 16) << "a quarter of the ring at a time";
}

TEST(Receive, bulk_credit_comes_back_as_chunks_are_copied_out) {
  Two two;
  const auto source = filled(8000, 3);
  const auto before = two.ranks.net().way(0, 1).credits.bulk_given();
  ASSERT_EQ(two.ranks[0].put(1, two.put(source)), PH_OK);
  two.ranks.take(1, PH_REMOTE);
  EXPECT_GE(two.ranks.net().way(0, 1).credits.bulk_given(), before + 6 * 1024);
}

TEST(Receive, bulk_credit_comes_back_before_a_turn_has_copied_all_that_there_is) {
  Two two;
  const auto source = filled(7000, 3);  // four chunks, nearly the whole ring
  ASSERT_EQ(two.ranks[0].put(1, two.put(source)), PH_OK);
  for (int i = 0; i < 4; ++i) two.count(0, PH_REMOTE);  // it writes all of them
  two.ranks.net().way(1, 0).credits.set_cold(true);     // and sleeps until it is told
  const auto& kicks = two.ranks.net().seats[1].kicks_count;
  const auto before = kicks;
  EXPECT_EQ(two.count(1, PH_REMOTE), 1u);
  EXPECT_GE(kicks - before, 3u) << "one for each quarter of the ring";
}

TEST(Receive, credit_that_goes_back_rings_for_who_sleeps_and_for_nobody_else) {
  for (const bool sleeps : {false, true}) {
    Two two;
    const auto& credits = two.ranks.net().way(0, 1).credits;
    const auto& kicks = two.ranks.net().seats[1].kicks_count;
    const auto lines = credits.lines_given();
    const auto ledger = credits.ledger_given();
    for (std::uint64_t i = 0; i < 30; ++i) {
      ASSERT_EQ(two.ranks[0].put(1, two.put({}, PH_NO_LCE)), PH_OK);
      two.ranks.net().way(1, 0).credits.set_cold(sleeps);
      const auto before = kicks;
      const auto given = credits.lines_given() + credits.ledger_given();
      EXPECT_EQ(two.count(1, PH_REMOTE), 1u);
      const bool gave = credits.lines_given() + credits.ledger_given() != given;
      EXPECT_EQ(kicks - before, sleeps && gave ? 1u : 0u) << i;
    }
    EXPECT_GT(credits.lines_given(), lines);
    EXPECT_GT(credits.ledger_given(), ledger);
  }
}

TEST(Receive, who_gets_an_id_does_not_wait_for_the_bytes_of_the_puts_behind_it) {
  Two two;
  const auto source = filled(3000, 3);
  for (const std::uint64_t id : {1, 2}) {
    two.remote_id = id;
    ASSERT_EQ(two.ranks[0].put(1, two.put(source)), PH_OK);
  }
  for (const std::uint64_t id : {1, 2}) {
    const auto found = two.ranks.probe(1, PH_REMOTE);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].id, id);
  }
}

// Where the initiator cannot see the keys.
TEST(Receive, a_refused_put_is_told_once_with_its_local_id_and_delivers_nothing) {
  for (const std::size_t size : {8ul, 1000ul, 5000ul, 20000ul})
    for (const std::uint32_t flags : {0u, std::uint32_t{PH_NO_LCE}, std::uint32_t{PH_DELIVERED}}) {
      Two two(options(Reach::Kind::none, false));
      const auto source = filled(size, 8);
      ph_put_args args = two.put(source, flags);
      args.target.key ^= 1ull << 40;
      ASSERT_EQ(two.ranks[0].put(1, args), PH_OK);
      std::vector<ph_completion> found;
      for (int i = 0; i < 300; ++i) {
        two.ranks.turn();
        for (const ph_completion& one : two.ranks.probe(0, PH_LOCAL)) found.push_back(one);
        EXPECT_EQ(two.count(1, PH_REMOTE), 0u);
      }
      // More than the ring holds is refused while its source is still being read.
      const bool was_read = size < 8 << 10;
      ASSERT_EQ(found.size(), flags == 0 && was_read ? 2u : 1u)
          << size << " bytes, flags " << flags;
      EXPECT_EQ(found.back().status, PH_ERR_KEY);
      EXPECT_EQ(found.back().id, two.local_id);
      EXPECT_TRUE(two.memory.untouched());
      // The way goes on.
      ASSERT_EQ(two.ranks[0].put(1, two.put(source)), PH_OK);
      EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
    }
}

TEST(Receive, one_turn_takes_a_bounded_number_of_records) {
  FakeOptions chosen = options();
  chosen.config.ring_lines = 1024;
  chosen.config.ledger_slots = 1024;
  chosen.config.requests = 1024;
  Two two(chosen);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(two.ranks[0].put(1, two.put({}, PH_NO_LCE)), PH_OK);
  std::vector<ph_completion> room(1024);
  CompletionSink sink{{PH_ANY_RANK, PH_REMOTE, nullptr}, room.data(), room.size()};
  EXPECT_EQ(two.ranks[1].probe(sink), PH_OK);
  EXPECT_GT(sink.count, 0u);
  EXPECT_LT(sink.count, 1000u);
}

}  // namespace
}  // namespace photon::engine::test
