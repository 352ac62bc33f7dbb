// Which completions a probe takes, from whom, and in which order.
#include "engine/fast_path.hpp"
#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

TEST(Probe, capacity_0_makes_progress_and_takes_nothing) {
  Two two;
  const auto source = filled(100, 2);
  ASSERT_EQ(two.ranks[0].put(1, two.put(source)), PH_OK);
  for (int i = 0; i < 50; ++i) {
    CompletionSink sink{{PH_ANY_RANK, PH_EITHER, nullptr}, nullptr, 0};
    EXPECT_EQ(two.ranks[1].probe(sink), PH_OK);
  }
  EXPECT_EQ(first_difference(two.memory.bytes().first(100), 2), 100u);
  EXPECT_EQ(two.count(1, PH_REMOTE), 1u);
}

TEST(Probe, a_full_array_leaves_the_rest_for_the_next_probe_and_no_peer_starves) {
  EngineGroup ranks(4, Ground::fake, options());
  for (Rank rank = 1; rank < 4; ++rank) {
    ranks.meet(0, rank);
    for (std::uint64_t i = 0; i < 4; ++i)
      ASSERT_EQ(ranks[rank].put(0, put_args({}, {}, i, i)), PH_OK);
  }
  for (int i = 0; i < 100; ++i) ranks.turn();  // all lie in the unexpected queue now
  std::uint64_t next[4] = {};
  Rank first_half[4] = {};
  for (int i = 0; i < 12; ++i) {
    const auto found = ranks.probe(0, PH_REMOTE, 1);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].id, next[found[0].peer]++);
    if (i < 6) ++first_half[found[0].peer];
  }
  for (Rank rank = 1; rank < 4; ++rank) EXPECT_GE(first_half[rank], 1u) << "rank " << rank;
  EXPECT_TRUE(ranks.probe(0, PH_REMOTE).empty());
}

TEST(Probe, unexpected_ids_come_before_those_in_the_ring) {
  Two two;
  for (std::uint64_t i = 0; i < 2; ++i)
    ASSERT_EQ(two.ranks[0].put(1, put_args({}, {}, i, i)), PH_OK);
  for (int i = 0; i < 50; ++i) two.ranks[1].serve();
  for (std::uint64_t i = 2; i < 4; ++i)
    ASSERT_EQ(two.ranks[0].put(1, put_args({}, {}, i, i)), PH_OK);
  std::vector<std::uint64_t> ids;
  while (ids.size() < 4) ids.push_back(two.ranks.take(1, PH_REMOTE).id);
  EXPECT_EQ(ids, (std::vector<std::uint64_t>{0, 1, 2, 3}));
}

TEST(Probe, long_ids_need_room_and_nothing_is_taken_without_it) {
  FakeOptions chosen = options();
  chosen.config.max_cid_size = 64;
  Two two(chosen);
  const auto id = filled(64, 9);
  ph_put_args args = two.put({});
  args.remote = {id.data(), 64};
  ASSERT_EQ(two.ranks[0].put(1, args), PH_OK);
  ph_completion one{};
  CompletionSink sink{{PH_ANY_RANK, PH_REMOTE, nullptr}, &one, 1};
  EXPECT_EQ(two.ranks[1].probe(sink), PH_ERR_ARGUMENT);
  const ph_completion found = two.ranks.take(1, PH_REMOTE);
  EXPECT_EQ(first_difference({static_cast<const std::byte*>(found.long_id), 64}, 9), 64u);
}

// What rank 0 posts to rank 1, and takes by itself as ph_probe_u64() does, while a record of rank 1
// lies in its ring.
class OneByOne {
 public:
  explicit OneByOne(unsigned poll_interval = 1) : two_(roomy(poll_interval)) {
    EXPECT_EQ(two_.ranks[1].put(0, notice_with_id()), PH_OK);
  }

  void post(int count) {
    for (int i = 0; i < count; ++i) ASSERT_EQ(two_.ranks[0].put(1, put_args({}, {}, 1, 1)), PH_OK);
  }
  void answer() { EXPECT_EQ(two_.ranks[1].put(0, notice_with_id()), PH_OK); }
  // Its kind; 0: there is none.
  std::uint32_t take(ph_rank peer) {
    Engine& engine = two_.ranks[0];
    SingleSink one{{peer, PH_EITHER, nullptr}};
    if (engine.pop_local(one) || engine.take_streamed(one) || engine.try_probe(one.query, one))
      return one.found.kind;
    ++general_count_;
    const auto found = two_.ranks.probe(0, PH_EITHER, 1, peer);
    return found.empty() ? 0 : found[0].kind;
  }
  // Of so many that are there, until the REMOTE one comes; `is_over` if it does.
  int take_locals(int most, ph_rank peer, bool& is_over) {
    for (int count = 0; count < most; ++count) {
      const std::uint32_t kind = take(peer);
      is_over = kind == PH_REMOTE;
      if (is_over) return count;
      EXPECT_EQ(kind, std::uint32_t{PH_LOCAL});
    }
    return most;
  }
  int general_count() const { return general_count_; }

 private:
  static FakeOptions roomy(unsigned poll_interval) {
    FakeOptions chosen = options();
    chosen.poll_interval = poll_interval;
    chosen.config.ring_lines = chosen.config.requests = chosen.config.ledger_slots = 1024;
    return chosen;
  }
  static ph_put_args notice_with_id() {
    static constexpr std::uint64_t kId = 7;
    ph_put_args args = notice();
    args.remote = {&kId, sizeof kId};
    return args;
  }

  Two two_;
  int general_count_ = 0;  // that went by probe()
};

constexpr int kMostInARow = 64;

// A burst may end before its turn is over; the next one does not begin a new turn.
TEST(ProbeOneByOne, local_ones_in_bursts_of_any_length_let_a_remote_one_in_after_64) {
  for (const ph_rank peer : {PH_ANY_RANK, ph_rank{1}}) {
    for (int length = 1; length <= 2 * kMostInARow; ++length) {
      OneByOne ids;
      bool is_over = false;
      int row = 0;
      while (!is_over && row <= 4 * kMostInARow) {
        ids.post(length);
        row += ids.take_locals(length, peer, is_over);
      }
      EXPECT_TRUE(is_over) << "bursts of " << length;
      EXPECT_LE(row, kMostInARow) << "bursts of " << length;
    }
  }
}

TEST(ProbeOneByOne, a_shorter_burst_before_does_not_lengthen_the_row_of_a_long_one) {
  for (int shorter = 1; shorter < kMostInARow; ++shorter) {
    OneByOne ids;
    bool is_over = false;
    ids.post(shorter);
    int row = ids.take_locals(shorter, PH_ANY_RANK, is_over);
    ids.post(4 * kMostInARow);
    if (!is_over) row += ids.take_locals(4 * kMostInARow, PH_ANY_RANK, is_over);
    EXPECT_TRUE(is_over) << "after " << shorter;
    EXPECT_LE(row, kMostInARow) << "after " << shorter;
  }
}

// The count begins anew each time: else all that come later went the long way.
TEST(ProbeOneByOne, one_local_one_in_64_goes_the_long_way) {
  constexpr int kRows = 8;
  OneByOne ids;
  ids.post(kRows * kMostInARow);
  int locals = 0;
  int remotes = 0;
  while (const std::uint32_t kind = ids.take(PH_ANY_RANK)) ++(kind == PH_LOCAL ? locals : remotes);
  EXPECT_EQ(locals, kRows * kMostInARow);
  EXPECT_EQ(remotes, 1);
  EXPECT_LE(ids.general_count(), kRows + 4);  // the REMOTE one, a look around, and finding nothing
}

// A row that ends where nothing has come costs a look, until so many were taken that the transport
// is due.
TEST(ProbeOneByOne, a_row_of_local_ones_goes_on_where_no_remote_one_has_come) {
  constexpr unsigned kInterval = 256;
  constexpr int kLocals = 3 * static_cast<int>(kInterval);
  OneByOne ids(kInterval);
  while (ids.take(PH_ANY_RANK) != PH_REMOTE) continue;
  const int before = ids.general_count();
  ids.post(kLocals);
  for (int i = 0; i < kLocals; ++i) EXPECT_EQ(ids.take(PH_ANY_RANK), std::uint32_t{PH_LOCAL}) << i;
  EXPECT_GE(ids.general_count(), before + 2);
  EXPECT_LE(ids.general_count(), before + 4);
}

// As in an exchange of messages, whose locals never make a row: no general turn but to look around.
TEST(ProbeOneByOne, a_remote_one_between_begins_a_new_row) {
  constexpr int kRounds = 8 * kMostInARow;
  OneByOne ids(16);
  while (ids.take(PH_ANY_RANK) != PH_REMOTE) continue;
  const int before = ids.general_count();
  for (int i = 0; i < kRounds; ++i) {
    ids.post(1);
    ids.answer();
    std::uint32_t kinds = 0;
    for (int probes = 0; kinds != PH_EITHER && probes < 4; ++probes) kinds |= ids.take(PH_ANY_RANK);
    EXPECT_EQ(kinds, std::uint32_t{PH_EITHER}) << i;
  }
  EXPECT_LE(ids.general_count() - before, kRounds / 16) << "two turns a round, a look in 32";
}

TEST(ProbeOneByOne, a_remote_one_ends_the_row_although_the_transport_is_not_due) {
  OneByOne ids(1024);
  ids.post(4 * kMostInARow);
  bool is_over = false;
  EXPECT_LE(ids.take_locals(4 * kMostInARow, PH_ANY_RANK, is_over), kMostInARow);
  EXPECT_TRUE(is_over);
}

}  // namespace
}  // namespace photon::engine::test
