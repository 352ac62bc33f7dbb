#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "task/task_job.hpp"

namespace photon::task::test {
namespace {

using Due = std::function<void(ph_task_pe*)>;

void run_due(ph_task_pe* pe, void* user) { (*static_cast<Due*>(user))(pe); }

std::int64_t now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// On a slow machine a later call may name an earlier time, so the times are those of the calls.
TEST(TaskTimer, an_idle_pe_wakes_for_each_in_the_order_of_their_times) {
  struct Armed {
    std::int64_t least_us = 0, most_us = 0;
    std::size_t place = 0;
    Due due;
  };
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    std::array<Armed, 3> all;
    std::size_t ran = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      Armed& one = all[i];
      one.due = [&](ph_task_pe* own) {
        EXPECT_GE(now_us(), one.least_us) << "never before its time";
        one.place = ++ran;
        if (ran == all.size()) {
          EXPECT_EQ(ph_task_stop(own), PH_OK);
        }
      };
      const std::int64_t times_us[] = {30'000, 5'000, 10'000};
      one.least_us = now_us() + times_us[i];
      ASSERT_EQ(
          ph_task_after(pe, static_cast<std::uint64_t>(times_us[i]), run_due, &one.due, nullptr),
          PH_OK);
      one.most_us = now_us() + times_us[i] + 1;
    }
    std::uint64_t tasks = 9;
    ASSERT_EQ(ph_task_run(pe, -1, &tasks), PH_OK);
    EXPECT_EQ(tasks, 0u) << "a timer is no task";
    for (const Armed& one : all)
      for (const Armed& other : all)
        if (one.most_us < other.least_us) {
          EXPECT_LT(one.place, other.place);
        }
    EXPECT_LE(counts_of(pe).sleeps, 500u) << "it slept until then";
  });
}

TEST(TaskTimer, a_periodic_one_may_cancel_itself) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    std::uint64_t name = 0;
    int times = 0;
    Due tick = [&](ph_task_pe* one) {
      if (++times != 3) return;
      EXPECT_EQ(ph_task_cancel(one, name), PH_OK);
      EXPECT_EQ(ph_task_cancel(one, name), PH_ERR_NOT_FOUND);
      EXPECT_EQ(ph_task_stop(one), PH_OK);
    };
    ASSERT_EQ(ph_task_every(pe, 1000, run_due, &tick, &name), PH_OK);
    EXPECT_NE(name, 0u);
    const std::int64_t begin = now_us();
    ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
    EXPECT_GE(now_us() - begin, 3000);
    EXPECT_EQ(times, 3);
    EXPECT_EQ(ph_task_cancel(pe, name), PH_ERR_NOT_FOUND);
  });
}

TEST(TaskTimer, one_that_was_cancelled_by_another_does_not_run) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    std::uint64_t victim = 0;
    Due never = [](ph_task_pe*) { ADD_FAILURE() << "it was cancelled"; };
    Due cancel = [&](ph_task_pe* one) { EXPECT_EQ(ph_task_cancel(one, victim), PH_OK); };
    Due stop = [](ph_task_pe* one) { ph_task_stop(one); };
    ASSERT_EQ(ph_task_after(pe, 0, run_due, &cancel, nullptr), PH_OK);
    ASSERT_EQ(ph_task_after(pe, 0, run_due, &never, &victim), PH_OK);
    ASSERT_EQ(ph_task_after(pe, 2000, run_due, &stop, nullptr), PH_OK);
    ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
  });
}

// A timer that is armed again by its own function, at once, leaves the loop its turn.
TEST(TaskTimer, of_no_time_does_not_keep_tasks_out) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    int left = 1000, times = 0;
    Due again = [&](ph_task_pe* one) {
      ++times;
      ASSERT_EQ(ph_task_after(one, 0, run_due, &again, nullptr), PH_OK);
    };
    Function chain = [&](ph_task_pe* one, ph_task_message* message) {
      if (--left != 0) {
        EXPECT_EQ(ph_task_send(one, 0, message), PH_OK);
        return;
      }
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
      EXPECT_EQ(ph_task_stop(one), PH_OK);
    };
    const std::uint32_t number = enroll(pe, chain);
    ASSERT_EQ(ph_task_after(pe, 0, run_due, &again, nullptr), PH_OK);
    ASSERT_EQ(ph_task_send(pe, 0, make(pe, number, 0)), PH_OK);
    ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
    EXPECT_EQ(left, 0);
    EXPECT_GT(times, 1000 / 16 - 2) << "and has its own, at each look";
  });
}

TEST(TaskTimer, a_huge_time_neither_wraps_nor_keeps_the_pe_awake) {
  TaskJob job(1, 2);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    Due never = [](ph_task_pe*) { ADD_FAILURE() << "the time has wrapped"; };
    Function stop = [](ph_task_pe* one, ph_task_message* message) {
      ph_task_free(one, message);
      ph_task_stop(one);
    };
    const std::uint32_t number = enroll(pe, stop);
    for (const std::uint64_t time_us :
         {~std::uint64_t{0}, ~std::uint64_t{0} / 2, ~std::uint64_t{0} / 1000})
      ASSERT_EQ(ph_task_after(pe, time_us, run_due, &never, nullptr), PH_OK);
    ASSERT_EQ(ph_task_every(pe, ~std::uint64_t{0}, run_due, &never, nullptr), PH_OK);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    Due send = [&](ph_task_pe* one) {
      EXPECT_EQ(ph_task_send(one, 1, make(one, number, 0)), PH_OK);
      EXPECT_EQ(ph_task_send(one, 0, make(one, number, 0)), PH_OK);
    };
    if (place.pe == 0) {
      ASSERT_EQ(ph_task_after(pe, 20'000, run_due, &send, nullptr), PH_OK);
    }
    ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
    EXPECT_LE(counts_of(pe).sleeps, 500u);
  });
}

TEST(TaskTimer, a_call_for_outside_of_handlers_is_refused_in_its_function) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    Due end = [](ph_task_pe* one) {
      EXPECT_EQ(ph_task_end(one), PH_ERR_STATE);
      EXPECT_EQ(ph_task_agree(one), PH_ERR_STATE);
      EXPECT_EQ(ph_task_stop(one), PH_OK);
    };
    ASSERT_EQ(ph_task_after(pe, 0, run_due, &end, nullptr), PH_OK);
    ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
  });
}

TEST(TaskTimer, bad_arguments_are_refused_with_words) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    Due none = [](ph_task_pe*) {};
    EXPECT_EQ(ph_task_after(nullptr, 1, run_due, &none, nullptr), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_task_after(pe, 1, nullptr, nullptr, nullptr), PH_ERR_ARGUMENT);
    EXPECT_NE(words_of(pe).find("ph_task_after: function is null"), std::string::npos);
    EXPECT_EQ(ph_task_every(pe, 0, run_due, &none, nullptr), PH_ERR_ARGUMENT);
    EXPECT_NE(words_of(pe).find("a period of 0"), std::string::npos);
    EXPECT_EQ(ph_task_cancel(pe, 0), PH_ERR_NOT_FOUND);
    EXPECT_EQ(ph_task_cancel(pe, 12345), PH_ERR_NOT_FOUND);
    EXPECT_EQ(ph_task_when(pe, static_cast<ph_task_condition>(4), run_due, &none, nullptr),
              PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_task_when(pe, PH_TASK_END_IDLE, nullptr, nullptr, nullptr), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_task_cancel_when(pe, 7), PH_ERR_NOT_FOUND);
  });
}

TEST(TaskCondition, idleness_begins_stays_and_ends_around_each_sleep) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    std::string seen;
    int rounds = 0;
    Function task = [&](ph_task_pe* one, ph_task_message* message) {
      seen += 't';
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
      if (++rounds == 3) {
        EXPECT_EQ(ph_task_stop(one), PH_OK);
      }
    };
    const std::uint32_t number = enroll(pe, task);
    Due begins = [&](ph_task_pe*) { seen += 'b'; };
    Due stays = [&](ph_task_pe* one) {
      seen += 's';
      EXPECT_EQ(ph_task_send(one, 0, make(one, number, 0)), PH_OK);
    };
    Due ends = [&](ph_task_pe*) { seen += 'e'; };
    ASSERT_EQ(ph_task_when(pe, PH_TASK_BEGIN_IDLE, run_due, &begins, nullptr), PH_OK);
    ASSERT_EQ(ph_task_when(pe, PH_TASK_STILL_IDLE, run_due, &stays, nullptr), PH_OK);
    ASSERT_EQ(ph_task_when(pe, PH_TASK_END_IDLE, run_due, &ends, nullptr), PH_OK);
    ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
    EXPECT_EQ(seen, "bsetbsetbset");
    EXPECT_GE(counts_of(pe).sleeps, 3u) << "one behind each beginning";
  });
}

// What a function of a condition brings is run before the PE sleeps.
TEST(TaskCondition, that_brings_work_ends_the_idleness_it_stands_for) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    int ran = 0;
    Function task = [&](ph_task_pe* one, ph_task_message* message) {
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
      if (++ran == 5) {
        EXPECT_EQ(ph_task_stop(one), PH_OK);
      }
    };
    const std::uint32_t number = enroll(pe, task);
    Due bring = [&](ph_task_pe* one) {
      const ph_task_priority none{};
      ph_task_message* message = make(one, number, 0);
      switch (ran % 3) {
        case 0: EXPECT_EQ(ph_task_send(one, 0, message), PH_OK); break;
        case 1: EXPECT_EQ(ph_task_enqueue(one, message, &none), PH_OK); break;
        default: EXPECT_EQ(ph_task_enqueue_node(one, message, &none), PH_OK); break;
      }
    };
    ASSERT_EQ(ph_task_when(pe, PH_TASK_BEGIN_IDLE, run_due, &bring, nullptr), PH_OK);
    ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
    EXPECT_EQ(counts_of(pe).sleeps, 0u);
  });
}

TEST(TaskCondition, of_each_loop_is_called_at_each_look_until_it_is_cancelled) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    std::uint64_t name = 0;
    int calls = 0;
    Due loop = [&](ph_task_pe* one) {
      if (++calls == 4) {
        EXPECT_EQ(ph_task_cancel_when(one, name), PH_OK);
      }
    };
    ASSERT_EQ(ph_task_when(pe, PH_TASK_EACH_LOOP, run_due, &loop, &name), PH_OK);
    for (int round = 0; round < 10; ++round) ASSERT_EQ(ph_task_run(pe, 0, nullptr), PH_OK);
    EXPECT_EQ(calls, 4);
  });
}

TEST(TaskCondition, of_each_loop_comes_again_and_again_while_nothing_else_does) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    int calls = 0;
    Due loop = [&](ph_task_pe* one) {
      if (++calls == 1000) {
        EXPECT_EQ(ph_task_stop(one), PH_OK);
      }
    };
    ASSERT_EQ(ph_task_when(pe, PH_TASK_EACH_LOOP, run_due, &loop, nullptr), PH_OK);
    ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
    EXPECT_EQ(calls, 1000);
    EXPECT_EQ(counts_of(pe).sleeps, 0u);
  });
}

// Each PE arms the same ones, in the same order.
TEST(TaskTimer, and_function_of_a_condition_are_not_cancelled_by_another_pe) {
  std::array<std::uint64_t, 2> timers{};
  std::array<std::uint64_t, 2> calls{};
  TaskJob job(1, 2);
  job.run([&](ph_task_pe* pe, const ph_task_place& place) {
    Due never = [](ph_task_pe*) { ADD_FAILURE() << "its time does not come"; };
    Due nothing = [](ph_task_pe*) {};
    ASSERT_EQ(ph_task_after(pe, ~std::uint64_t{0}, run_due, &never, &timers[place.rank]), PH_OK);
    ASSERT_EQ(ph_task_when(pe, PH_TASK_BEGIN_IDLE, run_due, &nothing, &calls[place.rank]), PH_OK);
    ASSERT_EQ(ph_task_node_barrier(pe), PH_OK);
    const std::uint32_t other = 1 - place.rank;
    EXPECT_EQ(ph_task_cancel(pe, timers[other]), PH_ERR_NOT_FOUND);
    EXPECT_EQ(ph_task_cancel_when(pe, calls[other]), PH_ERR_NOT_FOUND);
    EXPECT_EQ(ph_task_cancel(pe, timers[place.rank]), PH_OK);
    EXPECT_EQ(ph_task_cancel_when(pe, calls[place.rank]), PH_OK);
    ASSERT_EQ(ph_task_node_barrier(pe), PH_OK);
  });
}

TEST(TaskTimer, calls_of_a_thread_that_is_no_pes_are_refused) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    Due none = [](ph_task_pe*) { ADD_FAILURE() << "it was refused"; };
    std::uint64_t own = 0;
    ASSERT_EQ(ph_task_after(pe, ~std::uint64_t{0}, run_due, &none, &own), PH_OK);
    std::thread([&] {
      EXPECT_EQ(ph_task_after(pe, 0, run_due, &none, nullptr), PH_ERR_STATE);
      EXPECT_EQ(ph_task_every(pe, 1, run_due, &none, nullptr), PH_ERR_STATE);
      EXPECT_EQ(ph_task_cancel(pe, own), PH_ERR_STATE);
      EXPECT_EQ(words_of(pe),
                "ph_task_cancel: this thread is not that of PE 0: make the call there, or send a "
                "message from a PE");
      EXPECT_EQ(ph_task_when(pe, PH_TASK_EACH_LOOP, run_due, &none, nullptr), PH_ERR_STATE);
      EXPECT_EQ(ph_task_cancel_when(pe, 4), PH_ERR_STATE);
    }).join();
    EXPECT_EQ(ph_task_cancel(pe, own), PH_OK);
    ASSERT_EQ(ph_task_run(pe, 0, nullptr), PH_OK);
  });
}

}  // namespace
}  // namespace photon::task::test
