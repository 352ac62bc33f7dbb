// The user's code of services: when it runs, in whose call, how long, and what becomes of what is
// left.
#include <poll.h>

#include <atomic>
#include <thread>

#include "engine/event_source.hpp"
#include "engine/fast_path.hpp"
#include "engine/stand_in.hpp"
#include "probe_service.hpp"

namespace photon::engine::test {
namespace {

// Whether an id that has just come is found without a general turn.
bool probes_fast(Two& two, Rank rank) {
  for (int looks = 0; looks < 2; ++looks) {  // each 32nd probe is general, whatever is due
    EXPECT_EQ(two.ranks[1 - rank].notify(rank, 7), PH_OK);
    ph_completion found[2];
    CompletionSink sink{{PH_ANY_RANK, PH_REMOTE, nullptr}, found, 2};
    if (two.ranks[rank].try_probe(sink.query, sink)) return true;
    two.ranks.take(rank, PH_REMOTE);
  }
  return false;
}

void run_code(Probed& two, Rank rank) {
  LaneGuard guard(two.ranks.lane(rank));
  two.ranks[rank].run_user_code(guard);
}

TEST(UserCode, that_is_due_again_each_time_it_ran_gives_the_caller_back_and_is_marked) {
  Probed two;
  ASSERT_TRUE(probes_fast(two, 0));
  two.at(0).at_run = [&] {
    const LaneGuard inside(two.ranks.lane(0));
    two.at(0).port.wants_run();
  };
  two.at(0).port.wants_run();
  run_code(two, 0);
  EXPECT_EQ(two.at(0).ran, 16);
  EXPECT_TRUE(two.ranks[0].owes_services());
  EXPECT_FALSE(probes_fast(two, 0)) << "a fast probe would pass it by";
  two.at(0).at_run = [] {};
  run_code(two, 0);
  EXPECT_EQ(two.at(0).ran, 17);
  EXPECT_FALSE(two.ranks[0].owes_services());
  EXPECT_TRUE(probes_fast(two, 0)) << "and now there is nothing to pass by";
}

// A thread is inside the code while another one closes the lane.
TEST(UserCode, that_is_due_again_begins_no_more_once_its_lane_is_closed) {
  Probed two;
  two.at(0).runs_leaving = false;
  two.at(0).at_run = [&] {
    const LaneGuard inside(two.ranks.lane(0));
    two.at(0).port.wants_run();
    two.ranks[0].tell_closed();
  };
  two.at(0).port.wants_run();
  run_code(two, 0);
  EXPECT_EQ(two.at(0).ran, 1);
  EXPECT_FALSE(two.ranks[0].owes_services()) << "who leaves sleeps";
  two.at(0).port.wants_run();
  EXPECT_FALSE(two.ranks[0].owes_services());
  run_code(two, 0);
  EXPECT_EQ(two.at(0).ran, 1);
}

TEST(UserCode, that_was_due_when_its_lane_was_closed_keeps_nobody_awake) {
  Probed two;
  two.at(0).runs_leaving = false;
  two.at(0).port.wants_run();
  two.ranks[0].leave_user_code();
  two.ranks[0].tell_closed();
  run_code(two, 0);
  EXPECT_EQ(two.at(0).ran, 0);
  EXPECT_FALSE(two.ranks[0].owes_services());
}

TEST(UserCode, that_moves_what_others_wait_for_runs_while_its_lane_leaves) {
  Probed two;
  two.ranks[0].tell_closed();
  two.at(0).port.wants_run();
  run_code(two, 0);
  EXPECT_EQ(two.at(0).ran, 1);
}

// As where a context with several lanes is finalized: those whose turn has not come are served.
TEST(UserCode, that_runs_while_its_lane_is_leaving_keeps_its_service_open_until_it_is_over) {
  Probed two;
  two.at(0).at_run = [&] {
    const LaneGuard inside(two.ranks.lane(0));
    two.ranks[0].serve_leaving();
    EXPECT_FALSE(two.at(0).closed) << "what it looks at is dropped";
  };
  two.at(0).port.wants_run();
  run_code(two, 0);
  EXPECT_EQ(two.at(0).ran, 1);
  two.ranks[0].serve_leaving();
  EXPECT_TRUE(two.at(0).closed);
}

// The thread that stands in has met it, and leaves it to the caller.
TEST(UserCode, that_who_stands_in_leaves_is_passed_by_by_no_fast_probe) {
  Probed two;
  ASSERT_TRUE(probes_fast(two, 1));
  two.at(1).runs_code = true;
  ASSERT_EQ(two.at(0).port.say_words(1, 1), PH_OK);
  {
    std::uint64_t seen = two.ranks[1].turns();
    LaneGuard guard(two.ranks.lane(1), LaneGuard::Kind::stand_in);
    ASSERT_EQ(guard.status(), PH_OK);
    EXPECT_EQ(StandIn(two.ranks[1]).turn(guard, seen, {}), Silence::busy);
  }
  ASSERT_EQ(two.at(1).heard.size(), 1u);
  EXPECT_EQ(two.at(1).ran, 0);
  EXPECT_FALSE(probes_fast(two, 1));
}

TEST(UserCode, that_a_posting_call_leaves_is_run_by_the_next_call_that_runs_any) {
  Probed two;
  two.at(1).runs_code = true;
  ASSERT_EQ(two.at(0).port.say_words(1, 1), PH_OK);
  ASSERT_TRUE(two.ranks.eventually([&] { return two.at(1).heard.size() == 1; }));
  two.ranks[1].leave_user_code();
  EXPECT_EQ(two.at(1).ran, 0);
  EXPECT_FALSE(probes_fast(two, 1));
  for (int i = 0; i < 100; ++i) two.ranks[1].serve();
  EXPECT_EQ(two.at(1).ran, 0);
  run_code(two, 1);
  EXPECT_EQ(two.at(1).ran, 1);
  EXPECT_TRUE(probes_fast(two, 1));
}

TEST(UserCode, that_is_left_wakes_a_thread_that_waits_and_it_runs_it) {
  Probed two;
  std::atomic<bool> has_run{false};
  two.at(0).at_run = [&] { has_run = true; };
  std::thread waiter([&] {
    LaneGuard guard(two.ranks.lane(0));
    const auto done = [&] { return has_run.load(); };
    EXPECT_EQ(two.ranks[0].wait_for(guard, done, 10'000'000), PH_OK);
  });
  two.ranks.fake(0).await_sleeper();
  {
    const LaneGuard inside(two.ranks.lane(0));
    two.at(0).port.wants_run();
    two.ranks[0].leave_user_code();
  }
  waiter.join();
  EXPECT_EQ(two.at(0).ran, 1);
}

TEST(UserCode, that_is_left_makes_a_descriptor_readable_and_it_is_not_armed_before_it_has_run) {
  Probed two(options(), Ground::shm);
  Engine& engine = two.ranks[0];
  int fd = -1;
  const auto arm = [&] {
    LaneGuard guard(two.ranks.lane(0));
    return EventSource(engine).arm(guard);
  };
  ASSERT_EQ(EventSource(engine).descriptor(fd), PH_OK);
  for (int i = 0; i < 1000 && arm() != PH_OK; ++i) two.ranks.probe(0, PH_EITHER);
  pollfd one{fd, POLLIN, 0};
  ASSERT_EQ(::poll(&one, 1, 0), 0);
  two.at(0).port.wants_run();
  engine.leave_user_code();
  EXPECT_EQ(::poll(&one, 1, 0), 1);
  EXPECT_EQ(arm(), PH_AGAIN);
  run_code(two, 0);
  for (int i = 0; i < 1000 && arm() != PH_OK; ++i) two.ranks.probe(0, PH_EITHER);
  EXPECT_EQ(::poll(&one, 1, 0), 0);
}

TEST(UserCode, runs_now_for_the_application_and_not_inside_itself_or_a_call_that_holds_the_lane) {
  Probed two;
  service::Port& port = two.at(0).port;
  EXPECT_TRUE(port.runs_now());
  EXPECT_FALSE(port.is_in_run());
  two.ranks[0].hold_lane(true);
  EXPECT_FALSE(port.runs_now());
  two.ranks[0].hold_lane(false);
  two.at(0).at_run = [&] {
    EXPECT_TRUE(port.is_in_run());
    EXPECT_FALSE(port.runs_now());
    std::thread([&] { EXPECT_FALSE(port.is_in_run()) << "another thread"; }).join();
  };
  port.wants_run();
  run_code(two, 0);
  EXPECT_EQ(two.at(0).ran, 1);
  EXPECT_TRUE(port.runs_now()) << "the right is free again";
  LaneGuard guard(two.ranks.lane(0));
  EXPECT_EQ(two.ranks[0].finalize(guard), PH_OK);
  EXPECT_FALSE(port.runs_now());
}

TEST(UserCode, runs_now_is_false_for_the_thread_that_stands_in_and_what_it_leaves_is_marked) {
  Probed two;
  bool was_true = false, was_asked = false;
  two.at(1).runs_code = true;
  two.at(1).at_message = [&] {
    was_asked = true;
    was_true = two.at(1).port.runs_now();
  };
  ASSERT_EQ(two.at(0).port.say_words(1, 1), PH_OK);
  std::uint64_t seen = two.ranks[1].turns();
  {
    LaneGuard guard(two.ranks.lane(1), LaneGuard::Kind::stand_in);
    StandIn(two.ranks[1]).turn(guard, seen, {});
  }
  EXPECT_TRUE(was_asked);
  EXPECT_FALSE(was_true);
  EXPECT_EQ(two.at(1).ran, 0);
  EXPECT_FALSE(probes_fast(two, 1));
  EXPECT_TRUE(two.at(1).port.runs_now()) << "it has gone";
}

TEST(UserCode, of_a_service_that_forbids_it_must_not_wait_and_any_other_may) {
  Probed two;
  const auto wait = [&] {
    LaneGuard guard(two.ranks.lane(0));
    return two.ranks[0].wait_for(
        guard, [] { return true; }, 1000);
  };
  ph_status status = PH_TIMEOUT;
  std::string words;
  two.at(0).at_run = [&] {
    status = wait();
    words = two.ranks[0].last_error().what;
  };
  two.at(0).port.wants_run();
  run_code(two, 0);
  EXPECT_EQ(status, PH_OK);
  two.at(0).waits = false;
  two.at(0).port.wants_run();
  run_code(two, 0);
  EXPECT_EQ(status, PH_ERR_STATE);
  EXPECT_NE(words.find("a handler must not wait"), std::string::npos) << words;
  EXPECT_EQ(wait(), PH_OK) << "outside of it";
  two.at(0).at_run = [&] { std::thread([&] { status = wait(); }).join(); };
  two.at(0).port.wants_run();
  run_code(two, 0);
  EXPECT_EQ(status, PH_OK) << "another thread";
}

TEST(UserCode, that_finds_no_memory_holds_up_no_other_and_is_marked) {
  struct Short final : service::Service {
    bool on_message(const service::Message&) override { return true; }
    void collect() override { throw std::bad_alloc(); }
  };
  static constexpr service::Kind kTable[] = {
      {wire::Owner::echo, "short",
       [](service::Port&) -> std::unique_ptr<service::Service> {
         return std::make_unique<Short>();
       }},
      {wire::Owner::rendezvous, "probe", ProbeService::make}};
  Two two(options(), Ground::fake, kTable);
  static_cast<void>(two.ranks[0].service(wire::Owner::echo));
  auto& other = *static_cast<ProbeService*>(two.ranks[0].service(wire::Owner::rendezvous));
  two.ranks[0].port(wire::Owner::echo).wants_run();
  other.port.wants_run();
  LaneGuard guard(two.ranks.lane(0));
  EXPECT_THROW(two.ranks[0].run_user_code(guard), std::bad_alloc);
  EXPECT_EQ(other.ran, 1);
  EXPECT_TRUE(two.ranks[0].owes_services());
  EXPECT_FALSE(probes_fast(two, 0));
}

TEST(UserCode, what_is_held_back_goes_before_a_thread_sleeps_behind_another) {
  Probed two;
  std::atomic<bool> over{false};
  const auto wait = [&] {
    LaneGuard guard(two.ranks.lane(0));
    EXPECT_EQ(two.ranks[0].wait_for(
                  guard, [&] { return over.load(); }, 10'000'000),
              PH_OK);
  };
  std::thread first(wait);
  two.ranks.fake(0).await_sleeper();
  int before = 0;
  {
    const LaneGuard inside(two.ranks.lane(0));
    before = two.at(0).sleeps;
  }
  std::thread second(wait);
  const auto sleeps = [&] {
    const LaneGuard inside(two.ranks.lane(0));
    return two.at(0).sleeps;
  };
  for (int i = 0; i < 10'000 && sleeps() == before; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_GT(sleeps(), before);
  over = true;
  {
    const LaneGuard inside(two.ranks.lane(0));
    two.at(0).port.wake();
  }
  first.join();
  second.join();
}

}  // namespace
}  // namespace photon::engine::test
