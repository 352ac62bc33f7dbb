// Which rings are looked at in every probe, and how the peers of all others are heard.
#include <set>
#include <string_view>

#include "engine/fast_path.hpp"
#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

TEST(Hot, rings_without_traffic_go_cold_but_for_the_last_few) {
  EngineGroup ranks(10, Ground::fake, options());
  for (Rank rank = 1; rank < 10; ++rank) ranks.meet(0, rank);
  const auto cold = [&] {
    unsigned count = 0;
    for (Rank rank = 1; rank < 10; ++rank)
      count += ranks.net().way(rank, 0).credits.is_cold() ? 1 : 0;
    return count;
  };
  for (int turn = 0; turn < 20000 && cold() < 5; ++turn) ranks[0].serve();
  EXPECT_GE(cold(), 5u);
  EXPECT_LT(cold(), 9u);
  // A cold ring rings a doorbell and is heard all the same.
  for (Rank rank = 1; rank < 10; ++rank) {
    EXPECT_EQ(ranks[rank].put(0, put_args({}, {}, 1, 1)), PH_OK);
    EXPECT_EQ(ranks.take(0, PH_REMOTE).peer, rank);
  }
}

// Rank 0 has met nine others, and looks at few of their rings only. It polls its transport when it
// has to, not by itself.
class Kicked : public testing::Test {
 protected:
  static constexpr Rank kRanks = 10;

  Kicked() {
    for (Rank rank = 1; rank < kRanks; ++rank) ranks_.meet(0, rank);
    for (int turn = 0; turn < 100000 && cold_.size() < 3; ++turn) {
      ranks_[0].serve();
      cold_.clear();
      for (Rank rank = 1; rank < kRanks; ++rank)
        if (is_cold(rank)) cold_.push_back(rank);
    }
    EXPECT_GE(cold_.size(), 3u);
    probe_until_empty();
  }

  static FakeOptions alarming() {
    FakeOptions chosen = options();
    chosen.has_doorbell = true;
    chosen.poll_interval = 200;
    return chosen;
  }
  bool is_cold(Rank rank) { return ranks_.net().way(rank, 0).credits.is_cold(); }
  Rank hot() {  // the one that was met last
    for (Rank rank = kRanks - 1; rank > 0; --rank)
      if (!is_cold(rank)) return rank;
    ADD_FAILURE() << "all rings are cold";
    return 0;
  }
  bool is_polled() { return ranks_.net().seats[0].doorbells.empty(); }
  void say(Rank rank, std::uint64_t id) { EXPECT_EQ(ranks_[rank].notify(0, id), PH_OK); }

  // Who was heard by one probe, on its fast path alone or by all of it.
  std::vector<Rank> probe_fast(bool& was_enough) {
    CompletionSink sink{kAnything, found_, std::size(found_)};
    was_enough = ranks_[0].try_probe(sink.query, sink);
    return heard(sink);
  }
  std::vector<Rank> probe() {
    bool was_enough = false;
    auto who = probe_fast(was_enough);
    if (was_enough) return who;
    CompletionSink sink{kAnything, found_, std::size(found_)};
    EXPECT_EQ(ranks_[0].probe(sink), PH_OK);
    for (const Rank rank : heard(sink)) who.push_back(rank);
    return who;
  }
  void probe_until_empty() {
    while (!probe().empty()) {
    }
  }

  static constexpr ph_query kAnything{PH_ANY_RANK, PH_EITHER, nullptr};
  EngineGroup ranks_{kRanks, Ground::fake, alarming()};
  std::vector<Rank> cold_;

 private:
  static std::vector<Rank> heard(const CompletionSink& sink) {
    std::vector<Rank> who;
    for (std::size_t i = 0; i < sink.count; ++i) who.push_back(sink.out[i].peer);
    return who;
  }

  ph_completion found_[16];
};

TEST_F(Kicked, the_peer_that_the_doorbell_names_is_heard_without_a_poll_of_the_transport) {
  say(cold_[0], 7);
  bool was_enough = false;
  EXPECT_EQ(probe_fast(was_enough), std::vector{cold_[0]});
  EXPECT_TRUE(was_enough);
  EXPECT_FALSE(is_polled());
}

TEST_F(Kicked, a_peer_that_was_heard_need_not_ring_once_there_is_nothing_else_to_do) {
  say(cold_[0], 7);
  EXPECT_EQ(probe(), std::vector{cold_[0]});
  EXPECT_TRUE(is_cold(cold_[0]));
  EXPECT_TRUE(probe().empty());
  EXPECT_FALSE(is_cold(cold_[0]));
  EXPECT_TRUE(is_polled());
  const unsigned kicks = ranks_.net().seats[cold_[0]].kicks_count;
  say(cold_[0], 8);
  EXPECT_EQ(ranks_.net().seats[cold_[0]].kicks_count, kicks);
  EXPECT_EQ(probe(), std::vector{cold_[0]});
}

TEST_F(Kicked, who_rang_before_the_one_that_the_doorbell_names_is_heard_next) {
  say(cold_[0], 1);
  say(cold_[1], 2);
  say(cold_[2], 3);
  EXPECT_EQ(probe(), std::vector{cold_[2]});
  const auto others = probe();
  EXPECT_EQ(std::set(others.begin(), others.end()), (std::set{cold_[0], cold_[1]}));
}

TEST_F(Kicked, who_rang_before_is_heard_soon_though_no_turn_is_empty) {
  say(cold_[0], 1);
  say(cold_[1], 2);
  bool is_heard = false;
  for (int turn = 0; turn < 16 && !is_heard; ++turn) {
    say(hot(), 3);
    const auto who = probe();
    EXPECT_FALSE(who.empty());
    is_heard = std::count(who.begin(), who.end(), cold_[0]) != 0;
  }
  EXPECT_TRUE(is_heard);
}

TEST_F(Kicked, a_peer_that_its_doorbell_told_of_need_not_ring_either) {
  say(cold_[0], 1);
  say(cold_[1], 2);  // whose lane doorbell hides the other
  probe_until_empty();
  EXPECT_TRUE(probe().empty());
  EXPECT_FALSE(is_cold(cold_[0]));
  EXPECT_FALSE(is_cold(cold_[1]));
}

// While a thread of this rank sleeps, whoever is to wake it has to ring.
TEST_F(Kicked, nobody_is_told_to_ring_no_more_while_this_rank_sleeps) {
  unsigned sleeps = 0;
  const Rank early = hot();
  ranks_.net().seats[0].at_sleep = [&] {
    ++sleeps;
    say(cold_[0], 1);
    EXPECT_EQ(probe(), std::vector{cold_[0]});  // as another thread would
    for (int turn = 0; turn < 20; ++turn) EXPECT_TRUE(probe().empty());
    EXPECT_TRUE(is_cold(cold_[0]));
    EXPECT_TRUE(is_cold(early));
    say(cold_[1], 2);  // what the wait is for: no clock decides whether it comes to a sleep
    return true;
  };
  LaneGuard guard(ranks_.lane(0));
  EXPECT_EQ(ranks_[0].wait(guard, {cold_[1], PH_REMOTE, nullptr}, PH_FOREVER), PH_OK);
  EXPECT_EQ(sleeps, 1u);
  EXPECT_FALSE(is_cold(cold_[0]));
  EXPECT_FALSE(is_cold(early));
}

// Peers write the lane's doorbell, so that it may hold anything.
class KickedWrongly : public Kicked, public testing::WithParamInterface<const char*> {
 protected:
  Rank named() {
    const std::string_view name = GetParam();
    if (name == "silent") return cold_[1];
    if (name == "itself") return 0;
    if (name == "beyond") return kRanks;
    if (name == "any") return PH_ANY_RANK;
    return hot();
  }
};

TEST_P(KickedWrongly, all_bells_are_looked_at) {
  say(cold_[0], 5);
  ranks_.net().seats[0].lane_doorbell.set(std::uint64_t{named()} << transport::kDoorbellRankShift |
                                          1000);
  EXPECT_EQ(probe(), std::vector{cold_[0]});
  EXPECT_TRUE(is_polled());
}

INSTANTIATE_TEST_SUITE_P(named, KickedWrongly,
                         testing::Values("silent", "hot", "itself", "beyond", "any"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace photon::engine::test
