// Counters: what each operation adds where, and that nothing is counted while it is off.
#include <map>

#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

using Values = std::map<std::string, std::uint64_t>;

struct Counted : Two {
  explicit Counted(const FakeOptions& chosen = options(), bool on = true) : Two(chosen) {
    ranks[0].start_counting(on);
  }
  Values of(Rank rank, Rank peer = 1) {
    std::vector<NamedCount> found;
    EXPECT_EQ(ranks[rank].counters(peer, found), PH_OK);
    Values values;
    for (const NamedCount& one : found) values[one.text.name] = one.value;
    return values;
  }
};

TEST(Counting, tell_puts_from_notifications_also_on_the_fast_path) {
  Counted two;
  std::uint64_t word = 7;
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(two.ranks[0].put_u64(1, {&word, 8}, ph_at(&two.region, 0), {1, 2}), PH_OK);
    static_cast<void>(two.ranks.probe(1, PH_REMOTE));
    static_cast<void>(two.ranks.probe(0, PH_LOCAL));
  }
  ASSERT_EQ(two.ranks[0].notify(1, 5), PH_OK);
  const Values values = two.of(0);
  EXPECT_EQ(values.at("puts"), 3u);
  EXPECT_EQ(values.at("put_bytes"), 24u);
  EXPECT_EQ(values.at("notifications"), 1u);
  EXPECT_EQ(values.at("packed"), 4u);
}

TEST(Counting, say_how_puts_travelled) {
  for (const Reach::Kind reach : {Reach::Kind::none, Reach::Kind::mapped, Reach::Kind::call}) {
    Counted two(options(reach));
    const auto source = filled(5000, 1);
    ASSERT_EQ(two.ranks[0].put(1, two.put(source)), PH_OK);
    for (int i = 0; i < 10; ++i) two.ranks.turn();
    EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
    const Values values = two.of(0);
    const bool mapped = reach == Reach::Kind::mapped;
    EXPECT_EQ(values.at("put_bytes"), 5000u);
    EXPECT_EQ(values.at("direct"), mapped ? 1u : 0u);
    EXPECT_EQ(values.at("bulk"), mapped ? 0u : 1u);
    EXPECT_EQ(values.at("copied_bytes"), mapped ? 5000u : 0u);
    EXPECT_EQ(values.at("staged_bytes") + values.at("kernel_bytes"), mapped ? 0u : 5000u);
  }
}

TEST(Counting, say_how_gets_travelled_and_count_their_bytes) {
  for (const Reach::Kind reach : {Reach::Kind::none, Reach::Kind::call}) {
    Counted two(options(reach));
    std::vector<std::byte> landing(700);
    ASSERT_EQ(two.ranks[0].get(1, two.get(landing)), PH_OK);
    EXPECT_EQ(two.ranks.take(0, PH_LOCAL).status, PH_OK);
    const Values values = two.of(0);
    EXPECT_EQ(values.at("gets"), 1u);
    EXPECT_EQ(values.at("get_bytes"), 700u);
    EXPECT_EQ(values.at("get_served"), reach == Reach::Kind::none ? 1u : 0u);
    EXPECT_EQ(values.at("get_direct"), reach == Reach::Kind::call ? 1u : 0u);
    EXPECT_EQ(values.at("kernel_bytes"), reach == Reach::Kind::call ? 700u : 0u);
  }
}

TEST(Counting, see_what_waits_for_credit_and_how_much_waited) {
  Counted two;  // ledger_slots is 4, and nothing overflows
  two.ranks[1].start_counting(true);
  for (int i = 0; i < 10; ++i) ASSERT_EQ(two.ranks[0].notify(1, 5), PH_OK);
  two.ranks[1].serve();
  EXPECT_EQ(two.of(0).at("queued"), 6u);
  EXPECT_EQ(two.of(0).at("most_outstanding"), 6u) << "what is queued is under way";
  EXPECT_GT(two.of(0).at("ledger_stalls"), 0u);
  EXPECT_EQ(two.of(1, 0).at("most_waiting_ids"), 4u);
  EXPECT_EQ(two.of(0, PH_ANY_RANK).at("most_requests"), 6u);
}

TEST(Counting, count_nothing_while_they_are_off_and_keep_what_they_had) {
  Counted two(options(), false);
  ASSERT_EQ(two.ranks[0].notify(1, 5), PH_OK);
  EXPECT_EQ(two.of(0).at("notifications"), 0u);
  two.ranks[0].start_counting(true);
  ASSERT_EQ(two.ranks[0].notify(1, 5), PH_OK);
  two.ranks[0].start_counting(false);
  ASSERT_EQ(two.ranks[0].notify(1, 5), PH_OK);
  EXPECT_EQ(two.of(0).at("notifications"), 1u);
}

TEST(Counting, of_all_peers_are_sums_and_maxima) {
  PeerCounters a;
  PeerCounters b;
  a.add(Count::puts, 3);
  a.raise(Count::most_outstanding, 7);
  b.add(Count::puts, 4);
  b.raise(Count::most_outstanding, 5);
  a.merge(b);
  EXPECT_EQ(a.values[static_cast<std::size_t>(Count::puts)], 7u);
  EXPECT_EQ(a.values[static_cast<std::size_t>(Count::most_outstanding)], 7u);
}

TEST(Counting, of_a_rank_that_is_gone_stay) {
  Counted two;
  ASSERT_EQ(two.ranks[0].notify(1, 5), PH_OK);
  const std::uint64_t lines = two.of(0).at("lines_sent");
  two.ranks.net().seats[0].gone[1] = {PH_ERR_PEER, 0, "gone", 1};
  two.ranks[0].serve();
  two.ranks[0].serve();
  EXPECT_EQ(two.of(0).at("notifications"), 1u);
  EXPECT_EQ(two.of(0).at("lines_sent"), lines);
}

TEST(Counting, of_no_rank_are_refused) {
  Counted two;
  std::vector<NamedCount> found;
  EXPECT_EQ(two.ranks[0].counters(2, found), PH_ERR_RANK);
}

}  // namespace
}  // namespace photon::engine::test
