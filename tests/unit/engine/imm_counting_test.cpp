// Ids that wait for fragments at their target: when they are ready, in which order they are probed,
// and what becomes of those whose fragments never come.
#include <algorithm>
#include <deque>
#include <random>

#include "counted_unit.hpp"

namespace photon::engine::test {
namespace {

TEST(Counted, an_id_is_ready_after_the_last_of_its_fragments_and_not_before) {
  for (const std::uint64_t count : {1u, 2u, 9u}) {
    Initiator peer;
    const std::uint64_t line = peer.counted(count, 5);
    for (std::uint64_t i = 0; i < count; ++i) {
      EXPECT_EQ(peer.ids(), Ids()) << i << " of " << count;
      peer.fragments(line);
    }
    EXPECT_EQ(peer.ids(), Ids{5});
    EXPECT_EQ(peer.ids(), Ids()) << "once";
  }
}

TEST(Counted, fragments_may_come_before_the_record) {
  for (std::uint64_t before = 0; before <= 3; ++before) {
    Initiator peer;
    peer.fragments(peer.next_line(), before);
    EXPECT_EQ(peer.ids(), Ids());
    const std::uint64_t line = peer.counted(3, 5);
    peer.serve();
    EXPECT_EQ(peer.ids(), before == 3 ? Ids{5} : Ids());
    peer.fragments(line, 3 - before);
    EXPECT_EQ(peer.ids(), before == 3 ? Ids() : Ids{5});
  }
}

// The prober's own turn reads the record.
TEST(Counted, a_prober_that_waits_for_just_this_gets_it_at_once_if_all_fragments_are_here) {
  Initiator peer;
  peer.fragments(peer.next_line(), 2);
  peer.counted(2, 5);
  EXPECT_EQ(peer.ids(), Ids{5});
  peer.counted(2, 6);
  EXPECT_EQ(peer.ids(), Ids());
}

TEST(Counted, ids_behind_a_coming_one_wait_and_come_in_order) {
  Initiator peer;
  const std::uint64_t first = peer.counted(2, 1);
  peer.notify(2);
  const std::uint64_t third = peer.counted(1, 3);
  peer.fragments(third);
  peer.fragments(first);
  EXPECT_EQ(peer.ids(), Ids());
  peer.fragments(first);
  EXPECT_EQ(peer.ids(1), Ids{1});
  EXPECT_EQ(peer.ids(), (Ids{2, 3}));
}

TEST(Counted, a_coming_id_holds_up_only_those_behind_it_and_only_of_its_peer) {
  Initiator peer;
  peer.notify(1);
  const std::uint64_t line = peer.counted(1, 2);
  peer.notify(3);
  ASSERT_EQ(peer.ranks()[2].put(1, notice()), PH_OK);
  peer.serve();
  EXPECT_EQ(peer.ranks().probe(1, PH_REMOTE).size(), 2u) << "the friend's, and the first";
  EXPECT_EQ(peer.ids(), Ids());
  peer.fragments(line);
  EXPECT_EQ(peer.ids(), (Ids{2, 3}));
}

TEST(Counted, ids_of_more_than_8_bytes_wait_in_blocks_of_their_own) {
  Initiator peer;
  const std::uint64_t first = peer.counted(1, 1, 40);
  const std::uint64_t second = peer.counted(1, 2, 9);
  peer.notify(3, 30);
  peer.fragments(second);
  EXPECT_EQ(peer.ids(), Ids());
  peer.fragments(first);
  EXPECT_EQ(peer.ids(), (Ids{1, 2, 3}));
}

TEST(Counted, a_wait_for_ids_ends_with_the_last_fragment) {
  Initiator peer;
  EngineGroup& ranks = peer.ranks();
  const std::uint64_t line = peer.counted(2, 5);
  for (const Rank from : {Rank{0}, Rank{PH_ANY_RANK}}) {
    LaneGuard guard(ranks.lane(1));
    EXPECT_EQ(ranks[1].wait(guard, {from, PH_REMOTE, nullptr}, 0), PH_TIMEOUT);
  }
  peer.fragments(line, 2);
  for (const Rank from : {Rank{0}, Rank{PH_ANY_RANK}}) {
    LaneGuard guard(ranks.lane(1));
    EXPECT_EQ(ranks[1].wait(guard, {from, PH_REMOTE, nullptr}, 0), PH_OK);
  }
}

// Four ids of which one is coming and then withdrawn: each place, short and long ids.
TEST(Counted, a_withdrawn_id_frees_its_slot_and_lets_the_others_through) {
  for (const std::uint32_t id_bytes : {8u, 40u})
    for (std::uint64_t place = 0; place < 4; ++place) {
      SCOPED_TRACE(place);
      Initiator peer;
      for (std::uint64_t round = 0; round < 3; ++round) {
        const std::uint64_t given = peer.ledger_given();
        std::uint64_t line = 0;
        Ids wanted;
        for (std::uint64_t i = 0; i < 4; ++i) {
          if (i == place) {
            line = peer.counted(2, i, id_bytes);
          } else {
            peer.notify(i, id_bytes);
            wanted.push_back(i);
          }
        }
        peer.fragments(line);
        peer.withdraw(line);
        peer.serve();
        EXPECT_EQ(peer.ids(), wanted);
        EXPECT_EQ(peer.ledger_given(), given + 4) << "the slots of all four are free again";
      }
      EXPECT_FALSE(peer.is_cut_off());
    }
}

TEST(Counted, a_withdrawn_id_in_front_gives_its_slot_back_before_anybody_probes) {
  Initiator peer;
  const std::uint64_t line = peer.counted(1, 1);
  peer.serve();
  const std::uint64_t given = peer.ledger_given();
  peer.withdraw(line);
  peer.serve();
  EXPECT_EQ(peer.ledger_given(), given + 1);
  EXPECT_EQ(peer.ids(), Ids());
}

TEST(Counted, several_withdrawn_ids_in_a_row_are_passed_over) {
  Initiator peer;
  const std::uint64_t first = peer.counted(1, 1);
  const std::uint64_t second = peer.counted(1, 2, 40);
  const std::uint64_t third = peer.counted(1, 3, 40);
  peer.notify(4, 40);
  peer.withdraw(third);
  peer.withdraw(second);
  peer.serve();
  EXPECT_EQ(peer.ids(), Ids());
  peer.fragments(first);
  EXPECT_EQ(peer.ids(), (Ids{1, 4}));
}

TEST(Counted, coming_ids_take_ledger_credit) {
  Initiator peer;  // a ledger of 4
  for (std::uint64_t i = 0; i < 4; ++i) peer.counted(1, i);
  peer.serve();
  EXPECT_FALSE(peer.is_cut_off());
  peer.counted(1, 4);
  peer.serve();
  EXPECT_TRUE(peer.is_cut_off()) << "it had no credit for that";
}

TEST(Counted, a_lost_peers_coming_ids_are_dropped_and_complete_ones_behind_stay_readable) {
  for (const std::uint32_t id_bytes : {8u, 40u}) {
    Initiator peer;
    const std::uint64_t first = peer.counted(1, 1, id_bytes);
    peer.notify(2, id_bytes);
    peer.counted(1, 3, id_bytes);
    peer.notify(4, id_bytes);
    peer.serve();
    EXPECT_EQ(peer.ids(), Ids());
    peer.end();
    peer.serve();
    peer.fragments(first);  // too late
    EXPECT_EQ(peer.ids(), (Ids{2, 4}));
    EXPECT_EQ(peer.ids(), Ids());
    peer.expect_the_friend_unharmed();
  }
}

TEST(Counted, a_wait_for_a_lost_peer_finds_no_id_that_was_coming) {
  Initiator peer;
  peer.counted(1, 1);
  peer.serve();
  peer.end();
  peer.serve();
  LaneGuard guard(peer.ranks().lane(1));
  EXPECT_EQ(peer.ranks()[1].wait(guard, {0, PH_REMOTE, nullptr}, 0), PH_ERR_PEER);
}

// Against a list of what is to come, over many laps of the ring.
class Model {
 public:
  explicit Model(std::uint64_t seed) : random_(seed) {}

  void step() {
    switch (random_() % 6) {
      case 0:
        if (has_credit()) begin(1 + random_() % 4);
        break;
      case 1:
        if (has_credit()) expected_.push_back({peer_.notify(++last_id_), last_id_, 0});
        break;
      case 2:
      case 3: {
        const auto one = some_coming();
        if (one == expected_.end()) break;
        peer_.fragments(one->line);
        --one->missing;
        break;
      }
      case 4: {
        const auto one = some_coming();
        if (one == expected_.end() || random_() % 4 != 0) break;
        peer_.withdraw(one->line);
        expected_.erase(one);
        break;
      }
      default: peer_.serve();
    }
    check();
  }
  Initiator& peer() { return peer_; }

 private:
  struct Expected {
    std::uint64_t line, id, missing;
  };

  bool has_credit() { return last_id_ - peer_.ledger_given() < 4; }
  void begin(std::uint64_t count) {
    const std::uint64_t early = random_() % (count + 1);
    peer_.fragments(peer_.next_line(), early);
    const std::uint64_t line = peer_.counted(count, ++last_id_);
    expected_.push_back({line, last_id_, count - early});
  }
  std::deque<Expected>::iterator some_coming() {
    std::vector<std::deque<Expected>::iterator> coming;
    for (auto one = expected_.begin(); one != expected_.end(); ++one)
      if (one->missing != 0) coming.push_back(one);
    return coming.empty() ? expected_.end() : coming[random_() % coming.size()];
  }
  void check() {
    peer_.serve();
    for (const std::uint64_t id : peer_.ids(1 + random_() % 3)) {
      ASSERT_FALSE(expected_.empty());
      ASSERT_EQ(id, expected_.front().id);
      ASSERT_EQ(expected_.front().missing, 0u);
      expected_.pop_front();
    }
    // Those before the one that is coming must be found.
    if (expected_.empty() || expected_.front().missing != 0) {
      ASSERT_EQ(peer_.ids(), Ids());
    }
  }

  std::mt19937_64 random_;
  Initiator peer_;
  std::deque<Expected> expected_;
  std::uint64_t last_id_ = 0;
};

TEST(Counted, any_order_of_records_fragments_and_withdrawals_gives_the_ids_in_order) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    Model model(seed);
    for (int i = 0; i < 1000 && !testing::Test::HasFatalFailure(); ++i) model.step();
    EXPECT_GT(model.peer().next_line(), 3 * 64u) << "several laps";
    EXPECT_FALSE(model.peer().is_cut_off());
  }
}

}  // namespace
}  // namespace photon::engine::test
