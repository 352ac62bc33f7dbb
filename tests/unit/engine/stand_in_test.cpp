// Turns and rest in the place of a silent caller: when they are made, and when things are left
// alone.
#include "engine/stand_in.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

#include "probe_service.hpp"

namespace photon::engine::test {
namespace {

Silence stand_in(EngineGroup& ranks, std::uint64_t& seen, Rest rests = {}) {
  LaneGuard guard(ranks.lane(0), LaneGuard::Kind::stand_in);
  EXPECT_EQ(guard.status(), PH_OK);
  return StandIn(ranks[0]).turn(guard, seen, rests);
}

// There is a core for each thread, whatever this machine has.
FakeOptions with_cores() {
  FakeOptions chosen = options();
  chosen.config.oversubscribed = base::Oversubscribed::no;
  return chosen;
}

TEST(StandIn, a_turn_of_the_caller_ends_the_silence_and_its_own_do_not) {
  Two two(with_cores());
  std::uint64_t seen = two.ranks[0].turns();
  two.ranks[0].serve();
  EXPECT_EQ(stand_in(two.ranks, seen), Silence::over);
  seen = two.ranks[0].turns();
  EXPECT_EQ(stand_in(two.ranks, seen), Silence::quiet);
  EXPECT_EQ(stand_in(two.ranks, seen), Silence::quiet);
  EXPECT_EQ(seen, two.ranks[0].turns());
  EXPECT_EQ(two.count(0, PH_EITHER), 0u);
  EXPECT_EQ(stand_in(two.ranks, seen), Silence::over) << "he has probed";
}

TEST(StandIn, it_moves_what_has_come_and_leaves_the_completion_to_the_caller) {
  Two two;
  const auto source = filled(100, 1);
  std::uint64_t seen = two.ranks[0].turns();
  const ph_region mine = two.ranks.add(0, two.memory.bytes().subspan(4096));
  ASSERT_EQ(two.ranks[1].put(0, put_args(source, ph_at(&mine, 0), 1, 2)), PH_OK);
  EXPECT_EQ(stand_in(two.ranks, seen), Silence::busy);
  EXPECT_EQ(first_difference(two.memory.bytes().subspan(4096, 100), 1), 100u);
  const auto found = two.ranks.probe(0, PH_REMOTE);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].id, 2u);
}

// The caller computes on the only core that the rank has: who spins there is in his way, and is
// kept from serving by him.
TEST(StandIn, it_sleeps_at_once_where_the_rank_has_no_core_for_it) {
  const auto cores = std::max(2U, std::thread::hardware_concurrency());
  EngineGroup ranks(cores, Ground::fake, options());
  bool has_slept = false;
  ranks.net().seats[0].at_sleep = [&] { return has_slept = true; };
  std::uint64_t seen = ranks[0].turns();
  EXPECT_EQ(stand_in(ranks, seen), Silence::busy);
  EXPECT_TRUE(has_slept);
}

TEST(StandIn, a_lane_with_somebody_inside_is_left_alone) {
  Two two;
  const LaneGuard inside(two.ranks.lane(0));
  EXPECT_EQ(LaneGuard(two.ranks.lane(0), LaneGuard::Kind::stand_in).status(), PH_AGAIN);
}

TEST(StandIn, a_caller_asleep_serves_himself) {
  Two two;
  std::thread caller([&] {
    LaneGuard guard(two.ranks.lane(0));
    EXPECT_EQ(two.ranks[0].wait(guard, {1, PH_LOCAL, nullptr}, PH_FOREVER), PH_OK);
  });
  two.ranks.fake(0).await_sleeper();
  std::uint64_t seen = two.ranks[0].turns();
  EXPECT_EQ(stand_in(two.ranks, seen, {true, false}), Silence::asleep);
  EXPECT_TRUE(two.ranks.fake(0).sleeper_is_left_alone());
  std::atomic<bool> inside = false;
  std::thread behind([&] {
    LaneGuard guard(two.ranks.lane(0), LaneGuard::Kind::stand_in);
    inside = true;
    EXPECT_EQ(StandIn(two.ranks[0]).turn(guard, seen, {false, true}), Silence::asleep);
  });
  while (!inside) std::this_thread::yield();
  {  // once it has gone to sleep behind him, for then it leaves the lane
    LaneGuard guard(two.ranks.lane(0));
    ASSERT_EQ(two.ranks[0].put_u64(1, {nullptr, 0}, {}, {1, 1}), PH_OK);
  }
  caller.join();
  behind.join();
}

TEST(StandIn, one_that_was_relieved_does_nothing_more) {
  Two two;
  std::uint64_t seen = two.ranks[0].turns();
  StandIn(two.ranks[0]).relieve();
  EXPECT_EQ(stand_in(two.ranks, seen, {true, true}), Silence::over);
  EXPECT_EQ(two.ranks[0].turns(), seen);
}

// Rank 1 has a service that runs beside its caller, and is told one thing.
struct Beside : Probed {
  explicit Beside(std::span<const service::Kind> services = ProbeService::table_beside())
      : Probed(options(), Ground::fake, services), seen(ranks[1].turns()) {
    service().runs_code = true;
    service().at_message = [this] {
      is_beside = service().port.is_beside_caller();
      is_promised = service().port.runs_now();
    };
    seen = ranks[1].turns();
  }
  ProbeService& service() { return at(1); }
  void tell() { EXPECT_EQ(at(0).port.say_words(1, 1), PH_OK); }
  Silence turn(Rest rests = {}) {
    LaneGuard guard(ranks.lane(1), LaneGuard::Kind::stand_in);
    EXPECT_EQ(guard.status(), PH_OK);
    return stand.turn(guard, seen, rests);
  }
  // What happens while the thread sleeps.
  void asleep(std::function<void()> happens) {
    ranks.net().seats[1].at_sleep = [this, happens] {
      has_slept = true;
      happens();
      return true;
    };
  }

  StandIn stand{ranks[1]};
  std::uint64_t seen;
  bool is_beside = false, is_promised = false, has_slept = false;
};

TEST(StandIn, code_that_may_run_beside_the_caller_runs_there_and_its_promise_is_kept) {
  Beside two;
  two.tell();
  EXPECT_EQ(two.turn(), Silence::busy);
  EXPECT_TRUE(two.is_beside);
  EXPECT_TRUE(two.is_promised);
  EXPECT_EQ(two.service().ran, 1);
  EXPECT_FALSE(two.ranks[1].owes_services());
  EXPECT_FALSE(two.service().port.is_beside_caller()) << "it has gone";
}

TEST(StandIn, between_two_runs_it_looks_whether_the_caller_is_back) {
  Beside two;
  two.service().at_run = [&] {
    const LaneGuard inside(two.ranks.lane(1));
    EXPECT_FALSE(two.service().port.is_beside_caller()) << "it is the caller's turn that it is";
    two.service().port.wants_run();
    if (two.service().ran == 3) two.ranks[1].serve();
  };
  two.tell();
  for (int runs = 1; runs <= 3; ++runs) {
    EXPECT_EQ(two.turn(), Silence::busy);
    EXPECT_EQ(two.service().ran, runs);
  }
  EXPECT_EQ(two.turn(), Silence::over);
  EXPECT_EQ(two.service().ran, 3);
  EXPECT_TRUE(two.ranks[1].owes_services()) << "what is left is the caller's";
}

TEST(StandIn, what_comes_while_it_sleeps_runs_in_the_same_turn) {
  Beside two;
  two.asleep([&] { two.tell(); });
  EXPECT_EQ(two.turn({true, false, false}), Silence::busy);
  EXPECT_TRUE(two.has_slept);
  EXPECT_TRUE(two.stand.slept());
  EXPECT_TRUE(two.is_promised);
  EXPECT_EQ(two.service().ran, 1);
}

TEST(StandIn, what_comes_while_it_sleeps_is_the_callers_who_is_back_and_nothing_is_promised) {
  Beside two;
  two.asleep([&] {
    two.ranks[1].serve();
    two.tell();
  });
  EXPECT_EQ(two.turn({true, false, false}), Silence::over);
  EXPECT_EQ(two.service().heard.size(), 1u);
  EXPECT_TRUE(two.is_beside);
  EXPECT_FALSE(two.is_promised);
  EXPECT_EQ(two.service().ran, 0);
  EXPECT_TRUE(two.ranks[1].owes_services());
}

TEST(StandIn, it_sleeps_a_little_later_only_where_code_runs_beside_the_caller) {
  for (const bool is_beside : {true, false}) {
    Beside two(is_beside ? ProbeService::table_beside() : ProbeService::table());
    static_cast<void>(two.service());
    two.asleep([] {});
    EXPECT_EQ(two.turn({true, false, true}), is_beside ? Silence::quiet : Silence::busy);
    EXPECT_EQ(two.has_slept, !is_beside);
    EXPECT_EQ(two.stand.slept().has_value(), !is_beside);
    EXPECT_EQ(two.turn({true, false, false}), Silence::busy);
    EXPECT_TRUE(two.has_slept);
  }
}

TEST(StandIn, no_code_begins_once_the_lane_is_closed) {
  Beside two;
  two.tell();
  two.ranks[1].tell_closed();
  EXPECT_EQ(two.turn(), Silence::busy);
  EXPECT_EQ(two.service().heard.size(), 1u);
  EXPECT_FALSE(two.is_promised);
  EXPECT_EQ(two.service().ran, 0);
}

// The caller holds something back, and makes no call from then on.
TEST(StandIn, it_is_woken_for_what_wants_company) {
  Beside two;
  two.asleep([&] {
    EXPECT_FALSE(two.ranks.fake(1).was_woken());
    const LaneGuard inside(two.ranks.lane(1));
    two.service().port.wants_company();
    EXPECT_TRUE(two.ranks.fake(1).was_woken());
  });
  EXPECT_EQ(two.turn({true, false, false}), Silence::busy);
  EXPECT_TRUE(two.has_slept);
  EXPECT_EQ(two.service().sleeps, 1) << "what is held back goes before";
}

}  // namespace
}  // namespace photon::engine::test
