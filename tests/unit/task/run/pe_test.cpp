#include "task/run/pe.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "task/api/checks.hpp"
#include "task/task_job.hpp"

namespace photon::task::test {
namespace {

ph_task_priority of_int(const std::int32_t& value) { return {PH_TASK_INT_FIFO, 32, &value}; }

TEST(TaskPe, runs_as_many_tasks_as_it_was_told) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    Function free_it = [](ph_task_pe* one, ph_task_message* message) {
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
    };
    const std::uint32_t number = enroll(pe, free_it);
    for (int i = 0; i < 10; ++i) ASSERT_EQ(ph_task_send(pe, place.pe, make(pe, number, 0)), PH_OK);
    std::uint64_t ran = 0;
    EXPECT_EQ(ph_task_run(pe, 3, &ran), PH_OK);
    EXPECT_EQ(ran, 3u);
    EXPECT_EQ(ph_task_run(pe, 0, &ran), PH_OK);
    EXPECT_EQ(ran, 7u);
    EXPECT_EQ(ph_task_run(pe, 0, &ran), PH_OK);
    EXPECT_EQ(ran, 0u);
    EXPECT_EQ(counts_of(pe).tasks, 10u);
  });
}

// Tasks that are always there: the looks alone bring what comes from elsewhere. The first look is
// followed by one task, which the run inside the timer takes.
TEST(TaskPe, a_run_inside_a_timer_keeps_no_look_from_being_due) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    constexpr std::uint64_t kTasks = 200;
    std::uint64_t left = kTasks;
    Function again = [&](ph_task_pe* one, ph_task_message* message) {
      if (--left == 0)
        ph_task_free(one, message);
      else
        ph_task_send(one, place.pe, message);
    };
    const std::uint32_t number = enroll(pe, again);
    const ph_task_function runs = [](ph_task_pe* one, void*) {
      std::uint64_t ran = 0;
      EXPECT_EQ(ph_task_run(one, 1, &ran), PH_OK);
      EXPECT_EQ(ran, 1u);
    };
    ASSERT_EQ(ph_task_after(pe, 0, runs, nullptr, nullptr), PH_OK);
    ASSERT_EQ(ph_task_send(pe, place.pe, make(pe, number, 0)), PH_OK);
    const std::uint64_t before = counts_of(pe).looks;
    ASSERT_EQ(ph_task_run(pe, 0, nullptr), PH_OK);
    EXPECT_EQ(left, 0u);
    EXPECT_GE(counts_of(pe).looks - before, kTasks / 16);
  });
}

TEST(TaskPe, stop_ends_the_innermost_run) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    std::uint64_t inner_ran = 0;
    Function stops = [](ph_task_pe* one, ph_task_message* message) {
      ph_task_free(one, message);
      ph_task_stop(one);
    };
    Function nests = [&](ph_task_pe* one, ph_task_message* message) {
      ph_task_free(one, message);
      EXPECT_EQ(ph_task_run(one, -1, &inner_ran), PH_OK);
    };
    const std::uint32_t stop = enroll(pe, stops), nest = enroll(pe, nests);
    for (const std::uint32_t number : {nest, stop, stop})
      ASSERT_EQ(ph_task_send(pe, place.pe, make(pe, number, 0)), PH_OK);
    std::uint64_t ran = 0;
    EXPECT_EQ(ph_task_run(pe, -1, &ran), PH_OK);
    EXPECT_EQ(inner_ran, 1u) << "the first stop is of the run in the handler";
    EXPECT_EQ(ran, 2u);
  });
}

// What has no priority comes first, but for a turn of the queue after 64 of them.
TEST(TaskQueue, PriorityQueueIsNotStarved) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    std::vector<std::uint64_t> order;
    std::uint64_t left = 1000;
    std::uint32_t again = 0;
    Function sends_itself = [&](ph_task_pe* one, ph_task_message* message) {
      order.push_back(0);
      if (--left == 0)
        ph_task_free(one, message);
      else
        ph_task_send(one, place.pe, message);
    };
    Function notes = [&](ph_task_pe* one, ph_task_message* message) {
      order.push_back(value_of(message));
      ph_task_free(one, message);
    };
    again = enroll(pe, sends_itself);
    const std::uint32_t note = enroll(pe, notes);
    const std::int32_t values[] = {7, -1, 5};
    for (const std::int32_t& value : values) {
      const ph_task_priority priority = of_int(value);
      ASSERT_EQ(
          ph_task_enqueue(pe, make(pe, note, static_cast<std::uint64_t>(value + 10)), &priority),
          PH_OK);
    }
    ASSERT_EQ(ph_task_send(pe, place.pe, make(pe, again, 0)), PH_OK);
    ASSERT_EQ(ph_task_run(pe, 0, nullptr), PH_OK);
    ASSERT_EQ(order.size(), 1003u);
    EXPECT_EQ(order[64], 9u);
    EXPECT_EQ(order[64 + 65], 15u);
    EXPECT_EQ(order[64 + 130], 17u);
  });
}

TEST(TaskQueue, NetworkIsNotStarvedByLocals) {
  TaskJob job(2, 1);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    bool has_come = false;
    Function busy = [&](ph_task_pe* one, ph_task_message* message) {
      if (!has_come)  // it is never idle before
        ph_task_send(one, place.pe, message);
      else
        ph_task_free(one, message);
    };
    Function come = [&](ph_task_pe* one, ph_task_message* message) {
      has_come = true;
      ph_task_free(one, message);
    };
    const std::uint32_t busies = enroll(pe, busy), comes = enroll(pe, come);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    ASSERT_EQ(ph_task_send(pe, place.pe, make(pe, busies, 0)), PH_OK);
    ASSERT_EQ(ph_task_send(pe, 1 - place.pe, make(pe, comes, 0)), PH_OK);
    while (!has_come) ASSERT_EQ(ph_task_run(pe, 1, nullptr), PH_OK);
    ASSERT_EQ(ph_task_run(pe, 0, nullptr), PH_OK);
    EXPECT_EQ(counts_of(pe).sleeps, 0u);
  });
}

// Both are idle most of the time: each send finds the other one asleep, or about to be.
TEST(TaskPe, an_idle_one_is_woken_by_a_sibling) {
  constexpr std::uint64_t kRounds = 2000;
  TaskJob job(1, 2);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    std::uint64_t ran = 0;
    Function bounce = [&](ph_task_pe* one, ph_task_message* message) {
      std::uint64_t left = value_of(message);
      const bool is_last = left <= 1;
      if (is_last) ph_task_stop(one);
      if (left-- == 0) {
        ph_task_free(one, message);
        return;
      }
      std::memcpy(ph_task_body(message), &left, sizeof left);
      EXPECT_EQ(ph_task_send(one, 1 - place.pe, message), PH_OK);
    };
    const std::uint32_t number = enroll(pe, bounce);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    if (place.pe == 0) {
      ASSERT_EQ(ph_task_send(pe, 1, make(pe, number, kRounds)), PH_OK);
    }
    ASSERT_EQ(ph_task_run(pe, -1, &ran), PH_OK);
    EXPECT_GE(ran, kRounds / 2);
  });
}

TEST(TaskPe, an_idle_one_is_woken_by_a_message_to_the_process) {
  constexpr std::uint64_t kMessages = 500;
  TaskJob job(1, 3);
  std::vector<std::uint64_t> met(3);
  job.run([&](ph_task_pe* pe, const ph_task_place& place) {
    Function next = [&](ph_task_pe* one, ph_task_message* message) {
      std::uint64_t left = value_of(message);
      if (left == 0) {
        ph_task_set_handler(message, 2);
        EXPECT_EQ(ph_task_broadcast(one, message, PH_TASK_WITH_SELF), PH_OK);
        return;
      }
      --left;
      std::memcpy(ph_task_body(message), &left, sizeof left);
      ph_task_set_handler(message, 0);
      EXPECT_EQ(ph_task_send_node(one, 0, message), PH_OK);
    };
    Function stop = [](ph_task_pe* one, ph_task_message* message) {
      ph_task_free(one, message);
      ph_task_stop(one);
    };
    Function take = [&, place](ph_task_pe* one, ph_task_message* message) {
      ++met[place.pe];
      ph_task_set_handler(message, 1);
      EXPECT_EQ(ph_task_send(one, 0, message), PH_OK);
    };
    enroll(pe, take);
    enroll(pe, next);
    enroll(pe, stop);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    if (place.pe == 0) {
      ASSERT_EQ(ph_task_send(pe, 0, make(pe, 1, kMessages)), PH_OK);
    }
    ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
  });
  EXPECT_EQ(met[0] + met[1] + met[2], kMessages);
}

// The process's queue as PE 0 of three fills it while the others sleep. What it pushes chooses one
// of them; only the test says when that one is woken.
struct Sleepers {
  // `ready`: how many are about to run; before that they may rest in ph_task_agree().
  Sleepers(ph_task_pe* pe, std::uint32_t number, const std::atomic<int>& ready) : me(of(pe)) {
    while (ready != 2) std::this_thread::yield();
    for (const Pe* sibling : me.shared().all)
      while (sibling != &me && !sibling->rests()) std::this_thread::yield();
    Message& message = of(make(pe, number, 0));
    chunk_of(message).is_queued = 1;
    chosen = me.shared().queue.push(message);
  }
  Pe& me;
  std::uint32_t chosen;  // kNobody: they are awake for a moment, and find it
};

// Who is woken for it finds a long task in its inbox, too, which waits for the message.
TEST(TaskPe, a_message_to_the_process_is_left_to_another_sleeper_by_who_has_a_task) {
  std::atomic<bool> is_met{false};
  std::atomic<int> ready{0};
  TaskJob job(1, 3);
  job.run([&](ph_task_pe* pe, const ph_task_place& place) {
    Function take = [&](ph_task_pe* one, ph_task_message* message) {
      is_met = true;
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
      EXPECT_EQ(ph_task_exit(one, 0), PH_OK);
    };
    Function wait = [&](ph_task_pe* one, ph_task_message* message) {
      while (!is_met) std::this_thread::yield();
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
    };
    const std::uint32_t taking = enroll(pe, take), waiting = enroll(pe, wait);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    if (place.pe == 0) {
      const Sleepers all(pe, taking, ready);
      if (all.chosen != ProcessQueue::kNobody) {
        ASSERT_EQ(ph_task_send(pe, all.chosen, make(pe, waiting, 0)), PH_OK);
      }
      while (!is_met) std::this_thread::yield();
    }
    ++ready;
    ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
  });
}

TEST(TaskPe, a_message_to_the_process_is_left_to_a_sleeper_by_who_ends_its_run) {
  std::atomic<bool> is_met{false};
  std::atomic<int> ready{0};
  TaskJob job(1, 3);
  job.run([&](ph_task_pe* pe, const ph_task_place& place) {
    Function take = [&](ph_task_pe* one, ph_task_message* message) {
      is_met = true;
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
      EXPECT_EQ(ph_task_exit(one, 0), PH_OK);
    };
    Function nothing = [](ph_task_pe* one, ph_task_message* message) {
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
    };
    const std::uint32_t taking = enroll(pe, take), doing = enroll(pe, nothing);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    if (place.pe == 0) {
      ASSERT_EQ(ph_task_send(pe, 0, make(pe, doing, 0)), PH_OK);
      const Sleepers all(pe, taking, ready);
      ASSERT_EQ(ph_task_run(pe, 1, nullptr), PH_OK);
      while (!is_met) std::this_thread::yield();
    }
    ++ready;
    ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
  });
}

// PE 0 of the second process computes without a call until PE 1 there has met a message that came
// by the lane of PE 0: an idle sibling must have visited it. The watchdog ends the test if none
// does.
TEST(TaskPe, LongTaskDoesNotHoldSiblingsMessages) {
  constexpr std::uint64_t kMessages = 200;
  constexpr std::uint64_t kLarge = 100'000;  // it is met when all of it is there, in no order
  for (const std::uint64_t size_bytes : {std::uint64_t{8}, std::uint64_t{2'000}, kLarge}) {
    std::atomic<std::uint64_t> met{0};
    std::atomic<bool> computes{false};
    TaskJob job(2, 3);
    job.run([&](ph_task_pe* pe, const ph_task_place& place) {
      Function compute = [&](ph_task_pe* one, ph_task_message* message) {
        computes = true;
        while (met != kMessages) std::this_thread::yield();
        ph_task_free(one, message);
        ph_task_stop(one);
      };
      Function take = [&](ph_task_pe* one, ph_task_message* message) {
        if (size_bytes < kLarge) {
          EXPECT_EQ(value_of(message), met) << "in order";
        }
        EXPECT_EQ(ph_task_free(one, message), PH_OK);
        if (++met == kMessages) ph_task_stop(one);
      };
      const std::uint32_t computing = enroll(pe, compute), taking = enroll(pe, take);
      ASSERT_EQ(ph_task_agree(pe), PH_OK);
      if (place.pe == 3) {
        ASSERT_EQ(ph_task_send(pe, 3, make(pe, computing, 0)), PH_OK);
      }
      if (place.pe == 0) {
        while (!computes) std::this_thread::yield();
        for (std::uint64_t i = 0; i < kMessages; ++i)
          ASSERT_EQ(ph_task_send(pe, 4, make(pe, taking, i, size_bytes)), PH_OK);
      }
      if (place.pe == 3 || place.pe == 4) {
        ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
      }
    });
    EXPECT_EQ(met, kMessages);
  }
}

// The busy PE was asleep when its siblings fell asleep for good: its waking up sets a watch.
TEST(TaskPe, a_sibling_watches_a_pe_that_was_woken_for_a_long_task) {
  constexpr std::uint64_t kRounds = 30;
  std::atomic<std::uint64_t> met{0};
  TaskJob job(2, 2);
  job.run([&](ph_task_pe* pe, const ph_task_place& place) {
    Function compute = [&](ph_task_pe* one, ph_task_message* message) {
      const std::uint64_t round = value_of(message);
      ph_task_set_handler(message, 1);  // says that it computes
      EXPECT_EQ(ph_task_send(one, 0, message), PH_OK);
      while (met != round) std::this_thread::yield();
      if (round == kRounds) ph_task_stop(one);
    };
    Function answer = [&](ph_task_pe* one, ph_task_message* message) {
      ph_task_set_handler(message, 2);
      EXPECT_EQ(ph_task_send(one, 3, message), PH_OK);  // by the lane of PE 2, which computes
    };
    Function take = [&](ph_task_pe* one, ph_task_message* message) {
      const std::uint64_t round = value_of(message) + 1;
      met = round - 1;
      if (round > kRounds) {
        ph_task_set_handler(message, 3);
        EXPECT_EQ(ph_task_send(one, 0, message), PH_OK);
        ph_task_stop(one);
        return;
      }
      std::memcpy(ph_task_body(message), &round, sizeof round);
      ph_task_set_handler(message, 0);
      EXPECT_EQ(ph_task_send(one, 2, message), PH_OK);
    };
    Function stop = [](ph_task_pe* one, ph_task_message* message) {
      ph_task_free(one, message);
      ph_task_stop(one);
    };
    for (Function* function : {&compute, &answer, &take, &stop}) enroll(pe, *function);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    if (place.pe == 3) {
      ASSERT_EQ(ph_task_send(pe, 2, make(pe, 0, 1)), PH_OK);
    }
    if (place.pe != 1) {
      ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
    }
  });
  EXPECT_EQ(met, kRounds);
}

TEST(TaskPeDeathTest, a_message_without_a_handler_ends_the_process_with_words) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_DEATH(
      {
        TaskJob job(1, 1);
        job.run([](ph_task_pe* pe, const ph_task_place&) {
          ph_task_send(pe, 0, make(pe, 3, 0));
          ph_task_run(pe, 0, nullptr);
        });
      },
      "PE 0 has a message of PE 0 for handler 3, and has registered 0: register it on all PEs");
}

}  // namespace
}  // namespace photon::task::test
