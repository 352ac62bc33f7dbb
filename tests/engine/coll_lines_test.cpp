// Collectives by lines in shared memory: whoever sleeps is woken by them, whichever way it sleeps.
#include <gtest/gtest.h>
#include <photon/photon.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/coll_calls.hpp"

namespace photon::test {
namespace {

// By messages, too, where a setting shares no memory: the promise is the same.
class CollLinesOver : public OverSettings {};

std::uint64_t sleeps_of(ph_context* context) {
  std::vector<ph_counter> counters(256);
  std::size_t count = 0;
  EXPECT_EQ(ph_counters(context, PH_ANY_RANK, counters.data(), counters.size(), &count), PH_OK);
  for (std::size_t i = 0; i < count; ++i)
    if (std::string(counters[i].name) == "sleeps") return counters[i].value;
  ADD_FAILURE() << "there is no such counter";
  return 0;
}

// Member 0 begins only when member 1 sleeps, or is about to.
struct Pair {
  std::array<std::atomic<ph_context*>, 2> contexts{};
  std::atomic<std::uint64_t> slept_before = 0;
  std::atomic<int> waits = 0;

  void await_sleep(int round) const {
    while (waits.load() < round) std::this_thread::yield();
    while (sleeps_of(contexts[1]) == slept_before.load()) std::this_thread::yield();
  }
  void will_sleep() {
    slept_before = sleeps_of(contexts[1]);
    ++waits;
  }
};

ph_coll_args sum_of(const std::int64_t& in, std::int64_t& out) {
  ph_coll_args args{};
  args.size = sizeof args;
  args.kind = PH_COLL_ALLREDUCE;
  args.in = &in;
  args.out = &out;
  args.count = 1;
  args.type = PH_INT64;
  args.op = PH_OP_ADD;
  return args;
}

TEST_P(CollLinesOver, a_rank_asleep_in_ph_wait_is_woken_by_a_flat_line) {
  Pair pair;
  ThreadJob job(2, options({{"spin_us", "0"}}));
  job.run([&](ph_context* context, ph_rank rank) {
    pair.contexts[rank] = context;
    ph_team* const team = world_of(context);
    for (int round = 1; round <= 100; ++round) {
      const std::int64_t in = round * (rank + 1);
      std::int64_t out = 0;
      ph_coll_args args = sum_of(in, out);
      const std::uint64_t id = 7;
      args.local = {&id, sizeof id};
      if (rank == 0) pair.await_sleep(round);
      ASSERT_EQ(ph_coll_begin(team, &args), PH_OK);
      if (rank == 1) pair.will_sleep();
      ASSERT_EQ(ph_wait(context, {rank, PH_LOCAL, nullptr}, kTakeTimeoutUs), PH_OK) << round;
      EXPECT_EQ(take_local(context).id, id);
      ASSERT_EQ(out, 3 * round);
    }
    job.meet(context);
  });
}

// What a member has begun and what stands behind it goes on while it computes.
TEST_P(CollLinesOver, are_looked_at_by_the_progress_thread_of_a_member_that_computes) {
  std::atomic<int> seen = 0;
  ThreadJob job(2, options({{"progress_thread", "on"}}));
  job.run([&](ph_context* context, ph_rank rank) {
    ph_team* const team = world_of(context);
    for (int round = 1; round <= 30; ++round) {
      std::array<std::int64_t, 2> value{rank == 0 ? round : 0, rank == 1 ? 100 + round : 0};
      std::array<ph_request, 2> requests{};
      for (std::uint32_t root = 0; root < 2; ++root) {
        ph_coll_args args{};
        args.size = sizeof args;
        args.kind = PH_COLL_BCAST;
        args.root = root;
        args.out = &value[root];
        args.count = 1;
        args.type = PH_INT64;
        args.request = &requests[root];
        // Member 1 is to be woken for the first, and then says the second.
        if (rank == 0 && root == 0)
          while (seen.load() < round) std::this_thread::yield();
        ASSERT_EQ(ph_coll_begin(team, &args), PH_OK);
      }
      if (rank == 1) {
        ++seen;
        while (seen.load() != -round) std::this_thread::yield();  // it makes no call
        seen = round;
      }
      for (ph_request& request : requests)
        ASSERT_EQ(ph_wait_request(context, &request, nullptr, kTakeTimeoutUs), PH_OK) << round;
      EXPECT_EQ(value[0], round);
      EXPECT_EQ(value[1], 100 + round);
      if (rank == 0) {
        seen = -round;
        while (seen.load() < round) std::this_thread::yield();
      }
    }
    job.meet(context);
  });
}

TEST_P(CollLinesOver, make_a_descriptor_readable_that_is_armed) {
  if (is_sim()) GTEST_SKIP() << "simulated time has no descriptor";
  Pair pair;
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    ph_team* const team = world_of(context);
    int fd = -1;
    ASSERT_EQ(ph_event_fd(context, &fd), PH_OK);
    for (int round = 1; round <= 30; ++round) {
      const std::int64_t in = round * (rank + 1);
      std::int64_t out = 0;
      ph_coll_args args = sum_of(in, out);
      ph_request request = PH_REQUEST_NONE;
      args.request = &request;
      if (rank == 0)
        while (pair.waits.load() < round) std::this_thread::yield();
      ASSERT_EQ(ph_coll_begin(team, &args), PH_OK);
      bool has_armed = false;
      while (ph_test(context, &request, nullptr) == PH_AGAIN) {
        if (ph_event_arm(context) != PH_OK) continue;
        if (rank == 1 && !std::exchange(has_armed, true)) ++pair.waits;
        pollfd one{fd, POLLIN, 0};
        ASSERT_EQ(::poll(&one, 1, 20'000), 1) << "round " << round << " was slept through";
      }
      ASSERT_EQ(out, 3 * round);
      if (rank == 1 && !has_armed) ++pair.waits;
    }
    job.meet(context);
  });
}

// The first call settles the operation's room; what lies beside it in the arena belongs to others.
TEST_P(CollLinesOver, a_prepared_operation_that_grows_and_shrinks_touches_nothing_else) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank) {
    ph_team* const team = world_of(context);
    Collective first(team, {PH_COLL_ALLREDUCE, 1, 0, false, 0});
    ph_request request{};
    first.args().request = &request;
    ph_coll* coll = nullptr;
    ASSERT_EQ(ph_coll_prepare(team, &first.args(), &coll), PH_OK);
    ASSERT_EQ(ph_coll_start(coll), PH_OK);
    ASSERT_EQ(ph_wait_request(context, &request, nullptr, PH_FOREVER), PH_OK);
    constexpr std::size_t kBytes = 80'000;  // behind the page of the operation
    ph_region region{};
    ASSERT_EQ(ph_alloc(context, kBytes, &region), PH_OK);
    auto* const guard = reinterpret_cast<unsigned char*>(region.address);
    std::memset(guard, 0x5a, kBytes);
    for (const std::uint64_t count : {1000, 1, 3000, 240, 241, 5000, 2}) {
      Collective one(team, {PH_COLL_ALLREDUCE, count, 0, false, 0});
      one.args().request = &request;
      ASSERT_EQ(ph_coll_change(coll, &one.args()), PH_OK);
      for (int start = 0; start < 3; ++start) {
        ASSERT_EQ(ph_coll_start(coll), PH_OK);
        ASSERT_EQ(ph_wait_request(context, &request, nullptr, PH_FOREVER), PH_OK);
        one.expect_right("grown to " + std::to_string(count));
      }
      EXPECT_EQ(std::count(guard, guard + kBytes, 0x5a), std::ptrdiff_t{kBytes}) << count;
    }
    EXPECT_EQ(ph_free(context, guard), PH_OK);
    EXPECT_EQ(ph_coll_free(coll), PH_OK);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, CollLinesOver, testing::ValuesIn(all_settings()),
                         setting_name);

}  // namespace
}  // namespace photon::test
