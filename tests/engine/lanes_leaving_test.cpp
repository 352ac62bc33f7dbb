// ph_finalize() of a context with lanes: all are closed at once, and those that wait for their turn
// keep no peer waiting.
#include <atomic>
#include <thread>

#include "settings.hpp"

namespace photon::test {
namespace {

constexpr std::uint64_t kCount = 6;  // three ledgers

class LanesLeaving : public OverSettings {
 protected:
  static Options narrow() {
    return options({{"ledger_slots", "2"}, {"overflow_total_bytes", "0"}});
  }
};

void notify_often(ph_context* lane, ph_rank rank) {
  for (std::uint64_t id = 0; id < kCount; ++id) ASSERT_EQ(ph_notify(lane, rank, id), PH_OK);
}

void take_all(ph_context* lane) {
  for (std::uint64_t id = 0; id < kCount; ++id) EXPECT_EQ(take_remote(lane).id, id);
}

// One thread at either rank: who is in ph_lane_close() serves no other lane, and the finalizing
// rank's first one waits for that. So its second one must not wait for its turn.
TEST_P(LanesLeaving, a_lane_that_waits_for_its_turn_takes_what_peers_wait_for) {
  ThreadJob job(2, narrow());
  job.run([&job](ph_context* context, ph_rank rank) {
    ph_context* const lanes[] = {open_lane(context, 1), open_lane(context, 2)};
    job.meet(context);
    if (rank == 0) {
      std::vector<std::byte> lent(5000);
      ph_announce_args args{};
      args.size = sizeof args;
      args.kind = PH_RECV_BUFFER;
      args.buffer = lent.data();
      args.size_bytes = lent.size();
      args.flags = PH_NO_LCE;
      notify_often(context, 1);
      EXPECT_EQ(ph_flush(context, 1, kTakeTimeoutUs), PH_OK) << last_error(context).text;
      notify_often(lanes[1], 1);
      ASSERT_EQ(ph_announce(lanes[1], 1, &args), PH_OK) << last_error(lanes[1]).text;
      EXPECT_EQ(ph_lane_close(lanes[1]), PH_OK) << last_error(context).text;
      take_all(lanes[0]);
      EXPECT_EQ(ph_lane_close(lanes[0]), PH_OK) << last_error(context).text;
    } else {
      notify_often(lanes[0], 0);
      EXPECT_EQ(ph_finalize(context), PH_OK) << last_error(context).text;
      for (ph_context* lane : lanes) EXPECT_EQ(ph_lane_close(lane), PH_OK);
    }
  });
}

TEST_P(LanesLeaving, threads_that_wait_in_any_lane_are_refused_before_the_first_one_ends) {
  std::atomic<int> refused = 0;
  ThreadJob job(2, narrow());
  job.run([&](ph_context* context, ph_rank rank) {
    ph_context* const lanes[] = {open_lane(context, 1), open_lane(context, 2)};
    job.meet(context);
    if (rank == 0) {
      while (refused < 2) std::this_thread::yield();
      take_all(lanes[0]);
      for (ph_context* lane : lanes) EXPECT_EQ(ph_lane_close(lane), PH_OK);
    } else {
      std::vector<std::thread> waiters;
      for (ph_context* lane : {context, lanes[1]})
        waiters.emplace_back([&refused, lane] {
          EXPECT_EQ(ph_wait(lane, {0, PH_REMOTE, nullptr}, PH_FOREVER), PH_ERR_STATE);
          ++refused;
        });
      notify_often(lanes[0], 0);  // ends when rank 0 has taken them
      EXPECT_EQ(ph_finalize(context), PH_OK) << last_error(context).text;
      for (std::thread& waiter : waiters) waiter.join();
      for (ph_context* lane : lanes) EXPECT_EQ(ph_lane_close(lane), PH_OK);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, LanesLeaving, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
