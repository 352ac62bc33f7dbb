// Handlers of active messages and threads: of the application, and the progress thread, which runs
// them beside a caller who computes where the setting says so.
#include <gtest/gtest.h>
#include <photon/lane.h>
#include <photon/photon.h>
#include <photon/progress.h>
#include <photon/stats.h>

#include <time.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "engine/am_pull_calls.hpp"

namespace photon::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// Calls nothing of the library. False: it took too long.
template <class Done>
bool computes_until(Done done) {
  const auto end = Clock::now() + 20s;
  while (!done() && Clock::now() < end) std::this_thread::yield();
  return done();
}

class AmThread : public OverSettings {
 protected:
  static Options threaded(const Options& more = {}) {
    return options(with({{"am", "threaded"}}, more));
  }
  static void poll_until_over(ph_context* context, const std::atomic<bool>& over) {
    poll_until(context, [&] { return over.load(); });
  }
};

// Two threads poll and wait, and pause now and then, so that the progress thread comes between.
TEST_P(AmThread, never_two_handlers_of_a_lane_at_once) {
  const std::uint64_t count = rounds(2000, 500);
  for (const char* const where : {"polled", "threaded"}) {
    ThreadJob job(2, options({{"am", where}, {"progress_silence_us", "10"}, {"spin_us", "5"}}));
    job.run([&](ph_context* context, ph_rank rank) {
      std::atomic<int> inside = 0;
      std::uint64_t handled = 0;  // not atomic: what one handler wrote the next one sees
      std::atomic<bool> over = false;
      AmHandler handler([&](const ph_am_message& message, ph_am_landing&) {
        EXPECT_EQ(++inside, 1);
        std::uint64_t value = 0;
        std::memcpy(&value, message.payload, sizeof value);
        EXPECT_EQ(value, handled);
        if (value % 64 == 0) std::this_thread::yield();
        const bool is_last = ++handled == count;
        --inside;
        if (is_last) over = true;  // from then on this rank may leave, and take all this with it
        return PH_OK;
      });
      handler.enroll(context, 1);
      ASSERT_EQ(ph_barrier(context), PH_OK);
      std::vector<std::thread> threads;
      for (int i = 0; i < 2; ++i)
        threads.emplace_back([&, i] {
          for (int turn = 1; !over; ++turn) {
            if (i == 0)
              static_cast<void>(ph_am_poll(context, 0));
            else
              static_cast<void>(ph_wait(context, kAnyRemote, 100));
            if (turn % 16 == 0) std::this_thread::sleep_for(300us);
          }
        });
      for (std::uint64_t i = 0; i < count; ++i) {
        ASSERT_EQ(small_surely(context, 1 - rank, 1, std::as_bytes(std::span(&i, 1))), PH_OK);
        if (i % 200 == 0) std::this_thread::sleep_for(300us);
      }
      for (std::thread& thread : threads) thread.join();
      EXPECT_EQ(handled, count);
      job.meet(context);
    });
  }
}

// Of every way, and with an answer each.
TEST_P(AmThread, they_run_while_the_caller_computes) {
  constexpr std::array<std::size_t, 5> kSizes = {8, 400, 3000, 9000, 100'000};
  ThreadJob job(2, threaded());
  std::atomic<bool> over = false;
  job.run([&](ph_context* context, ph_rank rank) {
    const auto caller = std::this_thread::get_id();
    std::vector<std::byte> landing(kSizes.back());
    std::atomic<std::size_t> handled = 0, answered = 0;
    AmDone landed([&](const ph_am_message& message, const ph_am_part&) {
      EXPECT_EQ(first_difference(landing, kSizes.size() - 1), message.payload_bytes);
      ++handled;
      return PH_OK;
    });
    AmHandler handler([&](const ph_am_message& message, ph_am_landing& place) {
      EXPECT_NE(std::this_thread::get_id(), caller);
      EXPECT_EQ(message.payload_bytes, kSizes[handled]);
      if (message.payload == nullptr) {
        place.buffer = landing.data();
        place.buffer_bytes = landing.size();
        landed.name(place);
        return PH_OK;
      }
      const std::span bytes(static_cast<const std::byte*>(message.payload), kSizes[handled]);
      EXPECT_EQ(first_difference(bytes, handled), bytes.size());
      ++handled;
      const ph_am_args answer = am_args(2, {});
      EXPECT_EQ(ph_am_reply(&message, &answer), PH_OK) << last_error(context).text;
      return PH_OK;
    });
    AmHandler answer([&](const ph_am_message&, ph_am_landing&) {
      ++answered;
      return PH_OK;
    });
    handler.enroll(context, 1);
    answer.enroll(context, 2);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    job.meet();
    if (rank == 1) {
      EXPECT_TRUE(computes_until([&] { return over.load(); })) << handled << " were handled";
      EXPECT_EQ(handled, kSizes.size());
      EXPECT_GE(am_counter(context, "am_runs_beside"), 1u);
      over = true;
    } else {
      for (std::size_t i = 0; i < kSizes.size(); ++i) {
        const auto bytes = filled(kSizes[i], i);
        ph_am_args args = am_args(1, bytes);
        const bool is_pulled = i + 1 == kSizes.size();
        args.flags = PH_DELIVERED | (is_pulled ? 0 : PH_AM_REPLY);
        args.local = id_of(i);
        ASSERT_EQ(send_surely(context, [&] { return ph_am_send(context, 1, &args); }), PH_OK);
        EXPECT_EQ(take_polling(context, {1, PH_LOCAL, nullptr}).status, PH_OK);
        poll_until(context, [&] { return over || answered == i + (is_pulled ? 0 : 1); });
      }
      over = true;
    }
    job.meet(context);
  });
}

// The thread is there, and serves; handlers are the caller's.
TEST_P(AmThread, none_runs_there_where_they_are_polled) {
  ThreadJob job(2, options({{"am", "polled"}, {"progress_thread", "on"}}));
  std::atomic<bool> over = false;
  job.run([&](ph_context* context, ph_rank rank) {
    AmRecord record(context, 1);
    std::uint64_t word = 7;
    ph_region mine{};
    ASSERT_EQ(ph_register(context, &word, sizeof word, PH_ACCESS_ALL, &mine), PH_OK);
    const auto regions = exchange(context, mine);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    job.meet();
    if (rank == 1) {
      EXPECT_TRUE(computes_until([&] { return over.load(); }));
      EXPECT_TRUE(record.all.empty());
      poll_until(context, [&] { return record.all.size() == 1; });
      EXPECT_EQ(am_counter(context, "am_runs_beside"), 0u);
    } else {
      ASSERT_EQ(small_surely(context, 1, 1, {}), PH_OK);
      ASSERT_EQ(ph_flush(context, 1, kTakeTimeoutUs), PH_OK);
      over = true;
    }
    job.meet(context);
  });
}

TEST_P(AmThread, each_lane_has_its_own) {
  ThreadJob job(2, threaded());
  std::array<std::atomic<bool>, 3> handled{};
  job.run([&](ph_context* context, ph_rank rank) {
    ph_context* lanes[3] = {context, open_lane(context, 1), open_lane(context, 2)};
    std::vector<std::unique_ptr<AmHandler>> handlers;
    for (std::size_t i = 0; i < 3; ++i) {
      handlers.push_back(std::make_unique<AmHandler>([&, i](const ph_am_message& message, auto&) {
        EXPECT_EQ(message.context, lanes[i]);
        handled[i] = true;
        return PH_OK;
      }));
      handlers.back()->enroll(lanes[i], 1);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    job.meet();
    for (std::size_t i : {2, 0, 1}) {
      if (rank == 0) {
        ASSERT_EQ(small_surely(lanes[i], 1, 1, {}), PH_OK);
        poll_until(lanes[i], [&] { return handled[i].load(); });
      } else {
        EXPECT_TRUE(computes_until([&] { return handled[i].load(); })) << "of lane " << i;
        handled[i] = true;
      }
    }
    job.meet(context);
    for (std::size_t i : {1, 2}) EXPECT_EQ(ph_lane_close(lanes[i]), PH_OK);
    job.meet(context);
  });
}

// Of all threads of this process.
std::chrono::nanoseconds cpu_time() {
  timespec now{};
  EXPECT_EQ(::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now), 0);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

// It goes to sleep when the traffic ends, and sleeps until there is more. How long it takes to come
// to rest is the machine's affair; then it wakes seldom, and computes next to nothing. One that
// wakes by itself, or spins, does so in each of the times that are looked at.
TEST_P(AmThread, with_nothing_coming_it_sleeps) {
  if (is_sim()) GTEST_SKIP() << "its network moves in the calls of all ranks";
  if (is_ofi())
    GTEST_SKIP() << "its sleeps end by themselves: providers are looked at now and then";
  constexpr auto kTime = 1200ms;
  ThreadJob job(2, threaded());
  std::array<ph_context*, 2> all{};
  const auto sleeps = [&] { return am_counter(all[0], "sleeps") + am_counter(all[1], "sleeps"); };
  const auto has_rested = [&] {
    const std::uint64_t sleeps_before = sleeps();
    const auto cpu_before = cpu_time();
    std::this_thread::sleep_for(kTime);
    const auto cpu = cpu_time() - cpu_before;
    return sleeps() - sleeps_before <= 6 && cpu < kTime / 10;
  };
  job.run([&](ph_context* context, ph_rank rank) {
    std::atomic<bool> handled = false;  // maybe by the progress thread
    AmHandler handler([&](const ph_am_message&, ph_am_landing&) {
      handled = true;
      return PH_OK;
    });
    handler.enroll(context, 1);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    ASSERT_EQ(small_surely(context, 1 - rank, 1, {}), PH_OK);
    poll_until(context, [&] { return handled.load(); });
    all[rank] = context;
    job.meet(context);
    job.meet();  // nobody makes a call from here on
    if (rank == 0) {
      bool rested = false;
      for (int i = 0; i < 15 && !rested; ++i) rested = has_rested();
      EXPECT_TRUE(rested) << "it wakes, or spins";
    }
    job.meet();
    job.meet(context);
  });
}

TEST_P(AmThread, closing_waits_for_the_handler_that_runs_there) {
  ThreadJob job(2, threaded());
  std::atomic<bool> has_begun = false, has_ended = false;
  job.run([&](ph_context* context, ph_rank rank) {
    ph_context* const lane = open_lane(context, 1);
    AmHandler handler([&](const ph_am_message& message, ph_am_landing&) {
      has_begun = true;
      std::this_thread::sleep_for(20ms);
      const ph_status status = ph_am_send_small(message.context, message.source, 1, {});
      EXPECT_TRUE(status == PH_OK || status == PH_ERR_STATE) << status;
      has_ended = true;
      return PH_OK;
    });
    AmHandler other([&](const ph_am_message&, ph_am_landing&) { return PH_OK; });
    (rank == 1 ? handler : other).enroll(lane, 1);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      ASSERT_EQ(small_surely(lane, 1, 1, {}), PH_OK);
      poll_until(lane, [&] { return has_begun.load(); });
    } else {
      EXPECT_TRUE(computes_until([&] { return has_begun.load(); }));
      has_begun = true;
      EXPECT_EQ(ph_lane_close(lane), PH_OK);
      EXPECT_TRUE(has_ended) << "it came back while the handler ran";
    }
    job.meet(context);
    if (rank == 0) {
      EXPECT_EQ(ph_lane_close(lane), PH_OK);
    }
    job.meet(context);
  });
}

TEST_P(AmThread, a_handler_that_waits_there_is_refused) {
  ThreadJob job(2, threaded());
  std::atomic<bool> over = false;
  job.run([&](ph_context* context, ph_rank rank) {
    AmHandler handler([&](const ph_am_message&, ph_am_landing&) {
      EXPECT_EQ(ph_wait(context, kAnyRemote, 1000), PH_ERR_STATE);
      EXPECT_EQ(ph_flush(context, PH_ANY_RANK, 1000), PH_ERR_STATE);
      EXPECT_EQ(ph_am_unregister(context, 1), PH_ERR_STATE);
      EXPECT_EQ(ph_progress_stop(context), PH_ERR_STATE) << "it would wait for its own thread";
      EXPECT_EQ(ph_progress_start(context), PH_ERR_STATE);
      EXPECT_EQ(ph_finalize(context), PH_ERR_STATE);
      over = true;
      return PH_OK;
    });
    handler.enroll(context, 1);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    job.meet();
    if (rank == 0) {
      ASSERT_EQ(small_surely(context, 1, 1, {}), PH_OK);
      poll_until_over(context, over);
    } else {
      EXPECT_TRUE(computes_until([&] { return over.load(); }));
      over = true;
    }
    job.meet(context);
  });
}

TEST_P(AmThread, unregistering_waits_for_the_one_that_runs_there) {
  ThreadJob job(2, threaded());
  std::atomic<bool> has_begun = false, has_ended = false;
  job.run([&](ph_context* context, ph_rank rank) {
    AmHandler handler([&](const ph_am_message&, ph_am_landing&) {
      has_begun = true;
      std::this_thread::sleep_for(20ms);
      has_ended = true;
      return PH_OK;
    });
    handler.enroll(context, 1);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    job.meet();
    if (rank == 0) {
      ASSERT_EQ(small_surely(context, 1, 1, {}), PH_OK);
      poll_until_over(context, has_ended);
    } else {
      EXPECT_TRUE(computes_until([&] { return has_begun.load(); }));
      EXPECT_EQ(ph_am_unregister(context, 1), PH_OK);
      EXPECT_TRUE(has_ended) << "it came back while the handler ran";
      has_ended = true;
    }
    job.meet(context);
  });
}

// From then on handlers run in calls, as where they are polled.
TEST_P(AmThread, once_the_thread_is_stopped_they_run_in_calls) {
  ThreadJob job(2, threaded());
  job.run([&](ph_context* context, ph_rank rank) {
    const auto caller = std::this_thread::get_id();
    std::uint64_t handled = 0;
    AmHandler handler([&](const ph_am_message&, ph_am_landing&) {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      ++handled;
      return PH_OK;
    });
    ASSERT_EQ(ph_progress_stop(context), PH_OK);
    handler.enroll(context, 1);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    ASSERT_EQ(small_surely(context, 1 - rank, 1, {}), PH_OK);
    poll_until(context, [&] { return handled == 1; });
    job.meet(context);
  });
}

// The thread sleeps, and nothing tells it but the one call that collects.
TEST_P(AmThread, what_waits_for_others_goes_in_time_while_the_caller_computes) {
  if (is_sim()) GTEST_SKIP() << "its network moves in the calls of all ranks";
  ThreadJob job(2, threaded({{"am_aggregate_us", "100"}}));
  std::atomic<int> handled = 0;
  job.run([&](ph_context* context, ph_rank rank) {
    AmHandler handler([&](const ph_am_message&, ph_am_landing&) {
      ++handled;
      return PH_OK;
    });
    handler.enroll(context, 1);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    job.meet();
    for (int i = 1; i <= 3; ++i) {
      std::this_thread::sleep_for(20ms);
      if (rank == 0) {
        ph_am_args args = am_args(1, {});
        args.flags |= PH_AM_MAY_WAIT;
        ASSERT_EQ(ph_am_send(context, 1, &args), PH_OK) << last_error(context).text;
      }
      EXPECT_TRUE(computes_until([&] { return handled == i; })) << "it waited for a call";
      job.meet();
    }
    job.meet(context);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, AmThread, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
