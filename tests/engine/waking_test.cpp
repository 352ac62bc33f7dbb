// ph_wake(), and the progress thread that is started and stopped by calls.
#include <atomic>
#include <thread>

#include "settings.hpp"

namespace photon::test {
namespace {

class Waking : public OverSettings {};

constexpr ph_query kNothing = {PH_ANY_RANK, PH_LOCAL, nullptr};  // that anybody will ever complete

TEST_P(Waking, a_wait_that_comes_after_it_returns_once) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank) {
    for (int i = 0; i < 3; ++i) EXPECT_EQ(ph_wake(context), PH_OK);
    EXPECT_EQ(ph_wait(context, kNothing, PH_FOREVER), PH_OK);
    EXPECT_EQ(ph_wait(context, kNothing, 1000), PH_TIMEOUT);
    job.meet(context);
  });
}

TEST_P(Waking, each_of_many_wakes_a_wait_that_sleeps_or_spins_and_what_was_done_before_is_seen) {
  for (const char* spin : {"0", "20"}) {
    ThreadJob job(1, options({{"spin_us", spin}}));
    job.run([&](ph_context* context, ph_rank) {
      constexpr int kRounds = 2000;
      int said = 0;  // plain: ph_wake() has to order it
      std::atomic<int> heard = 0;
      std::thread waker([&] {
        for (int round = 1; round <= kRounds; ++round) {
          said = round;
          EXPECT_EQ(ph_wake(context), PH_OK);
          while (heard.load() != round) std::this_thread::yield();
        }
      });
      for (int round = 1; round <= kRounds; ++round) {
        EXPECT_EQ(ph_wait(context, kNothing, PH_FOREVER), PH_OK);
        EXPECT_EQ(said, round);
        heard = round;
      }
      waker.join();
    });
  }
}

TEST_P(Waking, waits_of_several_threads_return_one_for_each) {
  ThreadJob job(1, options({{"spin_us", "0"}}));
  job.run([&](ph_context* context, ph_rank) {
    constexpr int kThreads = 3;
    std::atomic<int> returned = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i)
      threads.emplace_back([&] {
        EXPECT_EQ(ph_wait(context, kNothing, PH_FOREVER), PH_OK);
        ++returned;
      });
    for (int i = 1; i <= kThreads; ++i) {
      EXPECT_EQ(ph_wake(context), PH_OK);
      while (returned < i) std::this_thread::yield();
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(ph_wait(context, kNothing, 1000), PH_TIMEOUT);
  });
}

TEST_P(Waking, a_wait_for_a_buffer_goes_on_and_leaves_it_to_the_next_wait) {
  ThreadJob job(1, options({{"spin_us", "0"}}));
  job.run([&](ph_context* context, ph_rank) {
    std::atomic<bool> waits = false;
    std::thread waker([&] {
      while (!waits) std::this_thread::yield();
      for (int i = 0; i < 50; ++i) {
        EXPECT_EQ(ph_wake(context), PH_OK);
        std::this_thread::yield();
      }
    });
    const ph_match match{PH_RECV_BUFFER, PH_ANY_RANK, 1, 8};
    ph_buffer buffer{};
    waits = true;
    EXPECT_EQ(ph_wait_buffer(context, &match, &buffer, 20'000), PH_TIMEOUT);
    waker.join();
    EXPECT_EQ(ph_wait(context, kNothing, PH_FOREVER), PH_OK);
  });
}

TEST_P(Waking, a_progress_thread_that_was_started_serves_and_one_that_was_stopped_does_not) {
  ThreadJob job(2, options({{"progress_thread", "off"}}));
  std::atomic<bool> over[2] = {false, false};
  job.run([&](ph_context* context, ph_rank rank) {
    for (std::uint32_t number : {0u, 1u}) {
      ph_context* lane = number == 0 ? context : open_lane(context, number);
      over[number] = false;
      std::vector<std::byte> memory(64);
      ph_region mine{};
      ASSERT_EQ(ph_register(lane, memory.data(), 64, PH_ACCESS_ALL, &mine), PH_OK);
      const auto regions = exchange(context, mine);
      ASSERT_EQ(rank == 1 ? ph_progress_start(lane) : PH_OK, PH_OK);
      const std::uint64_t id = 42;
      const auto source = filled(8, 1);  // more would be stored by its sender
      ph_put_args put = put_args(source, ph_at(&regions[1], 0), id, id);
      put.flags = PH_DELIVERED | PH_NO_RCE;
      job.meet(context);
      job.meet();  // from here on rank 1 makes no call
      if (rank == 0) {
        ASSERT_EQ(ph_put(lane, 1, &put), PH_OK);
        EXPECT_EQ(take_local(lane).id, id);
      }
      job.meet();
      ASSERT_EQ(rank == 1 ? ph_progress_stop(lane) : PH_OK, PH_OK);
      job.meet();
      if (rank == 0) {
        ASSERT_EQ(ph_put(lane, 1, &put), PH_OK);
        EXPECT_EQ(ph_wait(lane, {1, PH_LOCAL, nullptr}, 50'000), PH_TIMEOUT);
        over[number] = true;
        EXPECT_EQ(take_local(lane).id, id);
        ASSERT_EQ(ph_notify(lane, 1, 7), PH_OK);
      } else {
        while (!over[number]) std::this_thread::yield();  // it computes
        EXPECT_EQ(take_remote(lane).id, 7u);
      }
      job.meet(context);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, Waking, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
