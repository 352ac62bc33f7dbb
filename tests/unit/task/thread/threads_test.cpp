#include "task/thread/threads.hpp"

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "rounds.hpp"
#include "task/thread/thread_calls.hpp"

namespace photon::task::test {
namespace {

TEST(TaskThread, runs_when_it_is_awakened_and_its_turn_has_come) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    std::vector<int> order;
    ph_task_thread self{};
    ThreadBody body = [&](ph_task_pe* own) {
      self = ph_task_thread_self(own);
      order.push_back(1);
      EXPECT_EQ(ph_task_thread_suspend(own), PH_OK);
      order.push_back(2);
    };
    const ph_task_thread thread = make_thread(pe, body);
    run_all(pe);
    EXPECT_TRUE(order.empty()) << "it was made alone";
    EXPECT_EQ(ph_task_thread_awaken(pe, thread), PH_OK);
    EXPECT_TRUE(order.empty()) << "it is ready alone";
    std::uint64_t ran = 0;
    EXPECT_EQ(ph_task_run(pe, 0, &ran), PH_OK);
    EXPECT_EQ(ran, 1u);
    EXPECT_EQ(order, std::vector{1});
    EXPECT_EQ(self.pe, place.pe);
    EXPECT_EQ(self.number, thread.number);
    EXPECT_EQ(self.generation, thread.generation);
    EXPECT_EQ(ph_task_thread_self(pe).generation, 0u) << "outside of threads";
    EXPECT_EQ(ph_task_thread_awaken(pe, thread), PH_OK);
    run_all(pe);
    EXPECT_EQ(order, (std::vector{1, 2}));
    EXPECT_EQ(threads_of_pe(pe).threads, 0u);
    EXPECT_EQ(threads_of_pe(pe).switches, 2u);
  });
}

TEST(TaskThread, those_that_yield_take_turns) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    std::vector<int> order;
    std::vector<ThreadBody> bodies;
    for (int i = 0; i < 3; ++i)
      bodies.push_back([&order, i](ph_task_pe* own) {
        for (int round = 0; round < 3; ++round) {
          order.push_back(i);
          EXPECT_EQ(ph_task_thread_yield(own), PH_OK);
        }
      });
    for (ThreadBody& body : bodies) begin(pe, body);
    run_all(pe);
    EXPECT_EQ(order, (std::vector{0, 1, 2, 0, 1, 2, 0, 1, 2}));
  });
}

// What both units round, and the control words themselves: SSE for double, x87 for long double.
double third_of(double value) {
  asm volatile("" : "+x"(value));
  return value / 3;
}
long double third_of(long double value) {
  asm volatile("" : "+t"(value));
  return value / 3;
}

TEST(TaskThread, RoundingModeSurvives) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    const int before = std::fegetround();
    std::vector<ThreadBody> bodies;
    for (const int mode : {FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO})
      bodies.push_back([mode, before](ph_task_pe* own) {
        EXPECT_EQ(std::fegetround(), before) << "it begins as its maker was";
        std::fesetround(mode);
        const double narrow = third_of(-1.0);
        const long double wide = third_of(-1.0L);
        for (int round = 0; round < 3; ++round) {
          EXPECT_EQ(ph_task_thread_yield(own), PH_OK);
          EXPECT_EQ(std::fegetround(), mode);
          EXPECT_EQ(third_of(-1.0), narrow);
          EXPECT_EQ(third_of(-1.0L), wide);
        }
      });
    for (ThreadBody& body : bodies) begin(pe, body);
    run_all(pe);
    EXPECT_EQ(std::fegetround(), before);
    std::fesetround(FE_DOWNWARD);
    const double down = third_of(-1.0);
    std::fesetround(FE_UPWARD);
    EXPECT_NE(third_of(-1.0), down) << "the mode matters to what is compared";
    std::fesetround(before);
  });
}

TEST(TaskThread, join_returns_when_the_other_one_is_over) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    std::vector<std::string> order;
    ThreadBody slow = [&](ph_task_pe* own) {
      for (int i = 0; i < 3; ++i) ph_task_thread_yield(own);
      order.emplace_back("over");
    };
    const ph_task_thread other = make_thread(pe, slow);
    std::vector<ThreadBody> bodies;
    for (const char* name : {"first", "second"})
      bodies.push_back([&, name](ph_task_pe* own) {
        EXPECT_EQ(ph_task_thread_join(own, other), PH_OK);
        order.emplace_back(name);
        EXPECT_EQ(ph_task_thread_join(own, other), PH_OK) << "it is over";
      });
    for (ThreadBody& body : bodies) begin(pe, body);
    run_all(pe);
    EXPECT_TRUE(order.empty());
    EXPECT_EQ(ph_task_thread_awaken(pe, other), PH_OK);
    run_all(pe);
    EXPECT_EQ(order, (std::vector<std::string>{"over", "first", "second"}));
  });
}

struct Noted {
  explicit Noted(int& in) : count(in) {}
  ~Noted() { ++count; }
  Noted(const Noted&) = delete;
  Noted& operator=(const Noted&) = delete;
  int& count;
};

// Of each state that can be freed; destructors run, and so do those that wait for it.
TEST(TaskThread, free_leaves_the_frames_of_a_thread_in_any_state_but_running) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    int left = 0;
    int joined = 0;
    ThreadBody suspends = [&](ph_task_pe* own) {
      const Noted noted(left);
      ph_task_thread_suspend(own);
      ADD_FAILURE() << "it was freed";
    };
    ThreadBody yields = [&](ph_task_pe* own) {
      const Noted noted(left);
      ph_task_thread_yield(own);
      ADD_FAILURE() << "it was freed";
    };
    const ph_task_thread suspended = begin(pe, suspends);
    ThreadBody joins = [&](ph_task_pe* own) {
      const Noted noted(left);
      ph_task_thread_join(own, suspended);
      ++joined;
    };
    const ph_task_thread joining = begin(pe, joins);
    begin(pe, joins);
    const ph_task_thread ready = begin(pe, yields);
    const ph_task_thread made = make_thread(pe, suspends);
    ASSERT_EQ(ph_task_run(pe, 4, nullptr), PH_OK);
    for (const ph_task_thread thread : {ready, made, joining, suspended})
      EXPECT_EQ(ph_task_thread_free(pe, thread), PH_OK) << words_of(pe);
    EXPECT_EQ(left, 3) << "one was made alone";
    run_all(pe);
    EXPECT_EQ(joined, 1);
    EXPECT_EQ(left, 4);
    EXPECT_EQ(threads_of_pe(pe).threads, 0u);
    EXPECT_EQ(threads_of_pe(pe).stale_tokens, 1u) << "that of the one that was ready";
    EXPECT_EQ(ph_task_thread_free(pe, ready), PH_ERR_STATE);
  });
}

TEST(TaskThread, a_thread_may_catch_what_it_throws_between_two_turns) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    std::vector<std::string> caught;
    std::vector<ThreadBody> bodies;
    for (const char* text : {"one", "two", "three"})
      bodies.push_back([&, text](ph_task_pe* own) {
        try {
          try {
            throw std::runtime_error(text);
          } catch (const std::exception&) {
            ph_task_thread_yield(own);
            throw;
          }
        } catch (const std::exception& error) {
          caught.emplace_back(error.what());
        }
      });
    for (ThreadBody& body : bodies) begin(pe, body);
    run_all(pe);
    EXPECT_EQ(caught, (std::vector<std::string>{"one", "two", "three"}));
  });
}

TEST(TaskThread, priorities_decide_who_runs_first) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    std::vector<int> order;
    std::vector<ThreadBody> bodies;
    std::vector<ph_task_thread> threads;
    for (int i = 0; i < 4; ++i)
      bodies.push_back([&order, i](ph_task_pe* own) {
        order.push_back(i);
        ph_task_thread_yield(own);
        order.push_back(10 + i);
      });
    for (ThreadBody& body : bodies) threads.push_back(make_thread(pe, body));
    const std::int32_t late = 7, early = -7;
    std::uint32_t words[3] = {0, 0, 5};  // of more than 64 bits, and before all ints
    const ph_task_priority priorities[] = {{PH_TASK_INT_FIFO, 32, &late},
                                           {PH_TASK_INT_FIFO, 32, &early},
                                           {PH_TASK_BITS_FIFO, 96, words},
                                           {PH_TASK_BITS_FIFO, 96, words}};
    for (std::size_t i = 0; i < 4; ++i) {
      if (i == 3) words[2] = 4;
      ASSERT_EQ(ph_task_thread_strategy(pe, threads[i], &priorities[i]), PH_OK);
    }
    words[2] = 9;  // they are copies
    for (const ph_task_thread thread : threads) ASSERT_EQ(ph_task_thread_awaken(pe, thread), PH_OK);
    run_all(pe);
    EXPECT_EQ(order, (std::vector{3, 13, 2, 12, 1, 11, 0, 10}));
  });
}

// In a run within a thread, other threads run and come back there, and handlers are no thread.
TEST(TaskThread, may_run_tasks_itself) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    std::vector<std::string> order;
    Function handles = [&](ph_task_pe* own, ph_task_message* message) {
      ph_task_free(own, message);
      EXPECT_EQ(ph_task_thread_self(own).generation, 0u);
      EXPECT_EQ(ph_task_thread_suspend(own), PH_ERR_STATE);
      EXPECT_EQ(ph_task_thread_yield(own), PH_ERR_STATE);
      order.emplace_back("handler");
    };
    const std::uint32_t number = enroll(pe, handles);
    ThreadBody inner = [&](ph_task_pe* own) {
      order.emplace_back("inner");
      ph_task_thread_yield(own);
      order.emplace_back("inner again");
    };
    ThreadBody outer = [&](ph_task_pe* own) {
      const ph_task_thread self = ph_task_thread_self(own);
      EXPECT_EQ(ph_task_send(own, place.pe, make(own, number, 0)), PH_OK);
      begin(own, inner);
      EXPECT_EQ(ph_task_run(own, 2, nullptr), PH_OK);
      EXPECT_EQ(ph_task_thread_self(own).number, self.number);
      order.emplace_back("outer");
      EXPECT_EQ(ph_task_thread_yield(own), PH_OK);
      order.emplace_back("outer again");
    };
    begin(pe, outer);
    run_all(pe);
    EXPECT_EQ(order, (std::vector<std::string>{"handler", "inner", "outer", "inner again",
                                               "outer again"}));
  });
}

// Nor is a function of a timer that is due in such a run.
TEST(TaskThread, functions_of_timers_are_no_thread) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    bool was_called = false;
    ThreadBody body = [&](ph_task_pe* own) {
      const auto due = [](ph_task_pe* one, void* called) {
        EXPECT_EQ(ph_task_thread_self(one).generation, 0u);
        EXPECT_EQ(ph_task_thread_suspend(one), PH_ERR_STATE);
        *static_cast<bool*>(called) = true;
        ph_task_stop(one);
      };
      EXPECT_EQ(ph_task_after(own, 0, due, &was_called, nullptr), PH_OK);
      EXPECT_EQ(ph_task_run(own, -1, nullptr), PH_OK);
      EXPECT_NE(ph_task_thread_self(own).generation, 0u);
    };
    begin(pe, body);
    run_all(pe);
    EXPECT_TRUE(was_called);
    EXPECT_EQ(threads_of_pe(pe).threads, 0u);
  });
}

// Guards of 40,000 threads are more mappings than a usual kernel allows.
TEST(TaskThread, FortyThousandOrWords) {
  const std::uint64_t wanted = photon::test::rounds(40'000, 1000);
  for (const std::uint32_t guards : {PH_TASK_GUARDS_ON, PH_TASK_GUARDS_OFF, PH_TASK_GUARDS_MOST}) {
    TaskJob job(1, 1);
    job.settings().guards = guards;
    job.run([&](ph_task_pe* pe, const ph_task_place&) {
      std::uint64_t ran = 0;
      ThreadBody body = [&](ph_task_pe* own) {
        ++ran;
        if (ran % 1000 == 0) {
          EXPECT_EQ(ph_task_thread_yield(own), PH_OK);
        }
      };
      const ph_task_thread_args args = args_of(body);
      ph_task_thread thread{};
      std::uint64_t made = 0;
      ph_status status = PH_OK;
      while (made < wanted && (status = ph_task_thread_create(pe, &args, &thread)) == PH_OK) {
        ++made;
        ASSERT_EQ(ph_task_thread_awaken(pe, thread), PH_OK);
      }
      if (status != PH_OK) {
        EXPECT_EQ(guards, PH_TASK_GUARDS_ON) << words_of(pe);
        EXPECT_EQ(status, PH_ERR_MEMORY);
        EXPECT_NE(words_of(pe).find(std::to_string(made) + " of this process"), std::string::npos)
            << words_of(pe);
        EXPECT_NE(words_of(pe).find("vm.max_map_count"), std::string::npos) << words_of(pe);
        EXPECT_NE(words_of(pe).find("PH_TASK_GUARDS_OFF"), std::string::npos) << words_of(pe);
        EXPECT_GE(made, 20'000u);
      }
      run_all(pe);
      EXPECT_EQ(ran, made);
      EXPECT_EQ(threads_of_pe(pe).threads, 0u);
    });
  }
}

TEST(TaskThread, stacks_and_numbers_are_used_again) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    ThreadBody body = [](ph_task_pe*) {};
    ph_task_thread before{};
    for (int i = 0; i < 1000; ++i) {
      const ph_task_thread thread = begin(pe, body);
      run_all(pe);
      EXPECT_TRUE(i == 0 || thread.number == before.number);
      EXPECT_NE(thread.generation, before.generation);
      before = thread;
    }
    EXPECT_EQ(threads_of_pe(pe).stacks, 1u);
  });
}

TEST(TaskThread, leaving_with_threads_suspended_frees_them_and_says_how_many) {
  testing::internal::CaptureStderr();
  int left = 0;
  TaskJob job(1, 1, {{"log", "info"}});
  job.run([&](ph_task_pe* pe, const ph_task_place&) {
    static ThreadBody body;  // it is there until the end of the PE
    body = [&left](ph_task_pe* own) {
      const Noted noted(left);
      ph_task_thread_suspend(own);
      ADD_FAILURE() << "nobody has awakened it";
    };
    begin(pe, body);
    begin(pe, body);
    make_thread(pe, body);
    run_all(pe);
  });
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(left, 2);
  EXPECT_NE(text.find("photon[0]: info: PE 0: 3 threads were not over at the end"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace photon::task::test
