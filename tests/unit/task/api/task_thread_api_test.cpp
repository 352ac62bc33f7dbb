// Bad input of the calls on threads, each with its words; and variables.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "task/thread/thread_calls.hpp"

namespace photon::task::test {
namespace {

bool says(const ph_task_pe* pe, const char* words) {
  const std::string text = words_of(pe);
  if (text.find(words) != std::string::npos) return true;
  ADD_FAILURE() << "no \"" << words << "\" in: " << text;
  return false;
}

void with_one_pe(const std::function<void(ph_task_pe*)>& body) {
  TaskJob job(1, 1);
  job.run([&](ph_task_pe* pe, const ph_task_place&) { body(pe); });
}

TEST(TaskThread, SuspendingOutsideAThreadIsRefused) {
  with_one_pe([](ph_task_pe* pe) {
    EXPECT_EQ(ph_task_thread_suspend(pe), PH_ERR_STATE);
    EXPECT_TRUE(says(pe, "ph_task_thread_suspend: called outside of a thread: make one by "));
    EXPECT_EQ(ph_task_thread_suspend(nullptr), PH_ERR_ARGUMENT);
  });
}

TEST(TaskThread, JoiningOutsideAThreadIsRefused) {
  with_one_pe([](ph_task_pe* pe) {
    ThreadBody body = [](ph_task_pe*) {};
    const ph_task_thread thread = make_thread(pe, body);
    EXPECT_EQ(ph_task_thread_join(pe, thread), PH_ERR_STATE);
    EXPECT_TRUE(says(pe, "ph_task_thread_join: called outside of a thread"));
  });
}

TEST(TaskThread, YieldingSuspendingAndJoiningInAHandlerAreRefused) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    ThreadBody body = [](ph_task_pe*) {};
    const ph_task_thread thread = make_thread(pe, body);
    int met = 0;
    Function handler = [&](ph_task_pe* own, ph_task_message* message) {
      ++met;
      ph_task_free(own, message);
      EXPECT_EQ(ph_task_thread_yield(own), PH_ERR_STATE);
      EXPECT_TRUE(says(own, "ph_task_thread_yield: called in a handler: only a thread may stop"));
      EXPECT_EQ(ph_task_thread_suspend(own), PH_ERR_STATE);
      EXPECT_EQ(ph_task_thread_join(own, thread), PH_ERR_STATE);
      EXPECT_TRUE(says(own, "ph_task_thread_join: called in a handler"));
    };
    const std::uint32_t number = enroll(pe, handler);
    ASSERT_EQ(ph_task_send(pe, place.pe, make(pe, number, 0)), PH_OK);
    run_all(pe);
    EXPECT_EQ(met, 1);
    EXPECT_EQ(ph_task_thread_yield(pe), PH_ERR_STATE);
  });
}

TEST(TaskThread, AwakeningOneThatRunsIsRefused) {
  with_one_pe([](ph_task_pe* pe) {
    ThreadBody body = [](ph_task_pe* own) {
      EXPECT_EQ(ph_task_thread_awaken(own, ph_task_thread_self(own)), PH_ERR_STATE);
      EXPECT_TRUE(says(own, "thread 0 runs: only one that waits can be awakened"));
    };
    begin(pe, body);
    run_all(pe);
    EXPECT_EQ(threads_of_pe(pe).switches, 1u);
  });
}

TEST(TaskThread, AwakeningOneThatIsReadyIsRefused) {
  with_one_pe([](ph_task_pe* pe) {
    int turns = 0;
    ThreadBody body = [&](ph_task_pe*) { ++turns; };
    const ph_task_thread thread = begin(pe, body);
    EXPECT_EQ(ph_task_thread_awaken(pe, thread), PH_ERR_STATE);
    EXPECT_TRUE(says(pe, "thread 0 is ready: only one that waits can be awakened"));
    run_all(pe);
    EXPECT_EQ(turns, 1);
  });
}

TEST(TaskThread, AwakeningOneThatJoinsIsRefused) {
  with_one_pe([](ph_task_pe* pe) {
    ThreadBody waits = [](ph_task_pe* own) { ph_task_thread_suspend(own); };
    const ph_task_thread other = begin(pe, waits);
    ThreadBody joins = [&](ph_task_pe* own) { ph_task_thread_join(own, other); };
    const ph_task_thread joining = begin(pe, joins);
    run_all(pe);
    EXPECT_EQ(ph_task_thread_awaken(pe, joining), PH_ERR_STATE);
    EXPECT_TRUE(says(pe, "waits for another thread to end"));
    EXPECT_EQ(ph_task_thread_awaken(pe, other), PH_OK);
    run_all(pe);
    EXPECT_EQ(threads_of_pe(pe).threads, 0u);
  });
}

TEST(TaskThread, AwakeningOneThatIsFreedIsRefused) {
  with_one_pe([](ph_task_pe* pe) {
    ThreadBody body = [](ph_task_pe*) { ADD_FAILURE() << "it was freed"; };
    const ph_task_thread thread = make_thread(pe, body);
    EXPECT_EQ(ph_task_thread_free(pe, thread), PH_OK);
    EXPECT_EQ(ph_task_thread_awaken(pe, thread), PH_ERR_STATE);
    EXPECT_TRUE(says(pe, "ph_task_thread_awaken: thread 0 of generation 1 is over"));
    EXPECT_EQ(ph_task_thread_free(pe, thread), PH_ERR_STATE);
    EXPECT_EQ(ph_task_thread_strategy(pe, thread, nullptr), PH_ERR_STATE);
    run_all(pe);
  });
}

TEST(TaskThread, AHandleThatNeverNamedAThreadIsRefused) {
  with_one_pe([](ph_task_pe* pe) {
    for (const ph_task_thread thread :
         std::vector<ph_task_thread>{{0, 0, 0}, {0, 0, 1}, {0, 7, 1}, {0, ~0U, ~0U}}) {
      EXPECT_EQ(ph_task_thread_awaken(pe, thread), PH_ERR_ARGUMENT);
      EXPECT_TRUE(says(pe, "ph_task_thread_awaken: there was no thread"));
      EXPECT_EQ(ph_task_thread_free(pe, thread), PH_ERR_ARGUMENT);
    }
    EXPECT_EQ(ph_task_thread_awaken(pe, {1, 0, 1}), PH_ERR_RANK);
    EXPECT_TRUE(says(pe, "there is no PE 1: the job has 1"));
  });
}

TEST(TaskThread, JoiningItselfOrOneThatWaitsForItIsRefused) {
  with_one_pe([](ph_task_pe* pe) {
    ph_task_thread one{};
    ph_task_thread other{};
    ThreadBody joins_first = [&](ph_task_pe* own) {
      EXPECT_EQ(ph_task_thread_join(own, one), PH_ERR_STATE);
      EXPECT_TRUE(says(own, "a thread cannot wait for itself"));
      EXPECT_EQ(ph_task_thread_join(own, other), PH_OK);
    };
    ThreadBody joins_back = [&](ph_task_pe* own) {
      EXPECT_EQ(ph_task_thread_join(own, one), PH_ERR_STATE);
      EXPECT_TRUE(says(own, "ph_task_thread_join: thread 0 waits for this one already"));
    };
    one = begin(pe, joins_first);
    other = begin(pe, joins_back);
    run_all(pe);
    EXPECT_EQ(threads_of_pe(pe).threads, 0u);
  });
}

TEST(TaskThread, FreeingOneThatRunsIsRefused) {
  with_one_pe([](ph_task_pe* pe) {
    ThreadBody body = [](ph_task_pe* own) {
      EXPECT_EQ(ph_task_thread_free(own, ph_task_thread_self(own)), PH_ERR_STATE);
      EXPECT_TRUE(says(own, "thread 0 runs: it ends when its function returns"));
    };
    begin(pe, body);
    run_all(pe);
  });
}

TEST(TaskThread, AThreadOfAnotherPeIsNeitherJoinedNorFreedNorGivenAStrategy) {
  TaskJob job(1, 2);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    const ph_task_thread foreign{1 - place.pe, 0, 1};
    EXPECT_EQ(ph_task_thread_free(pe, foreign), PH_ERR_RANK);
    EXPECT_TRUE(says(pe, "send a message there, whose handler does it"));
    EXPECT_EQ(ph_task_thread_strategy(pe, foreign, nullptr), PH_ERR_RANK);
    ThreadBody body = [&](ph_task_pe* own) {
      EXPECT_EQ(ph_task_thread_join(own, foreign), PH_ERR_RANK);
    };
    begin(pe, body);
    run_all(pe);
  });
}

TEST(TaskThread, AStackUnder16KiBIsRefused) {
  with_one_pe([](ph_task_pe* pe) {
    ThreadBody body = [](ph_task_pe*) {};
    ph_task_thread_args args = args_of(body);
    ph_task_thread thread{9, 9, 9};
    for (const std::uint64_t bytes : {std::uint64_t{1}, std::uint64_t{16383}, ~std::uint64_t{0}}) {
      args.stack_bytes = bytes;
      EXPECT_EQ(ph_task_thread_create(pe, &args, &thread), PH_ERR_ARGUMENT);
      EXPECT_TRUE(says(pe, "it has 16384 or more"));
      EXPECT_EQ(thread.generation, 0u);
    }
    args.stack_bytes = 16384;
    EXPECT_EQ(ph_task_thread_create(pe, &args, &thread), PH_OK);
    EXPECT_EQ(ph_task_thread_awaken(pe, thread), PH_OK);
    run_all(pe);
  });
}

TEST(TaskThread, AStackOfTheConfigThatIsTooSmallOrTooLargeAndOtherGuardsAreRefused) {
  ph_task_config config{};
  config.size = sizeof config;
  config.stack_bytes = 16383;
  ph_task_pe* pe = nullptr;
  ph_error error{};
  EXPECT_EQ(ph_task_start(&config, &pe, &error), PH_ERR_ARGUMENT);
  EXPECT_NE(std::string(error.text).find("16,384"), std::string::npos) << error.text;
  for (const std::uint64_t bytes : {(std::uint64_t{1} << 36) + 1, ~std::uint64_t{0}}) {
    config.stack_bytes = bytes;
    EXPECT_EQ(ph_task_start(&config, &pe, &error), PH_ERR_ARGUMENT);
    EXPECT_NE(std::string(error.text).find("stack_bytes is more than 2^36"), std::string::npos)
        << error.text;
  }
  config.stack_bytes = 0;
  config.guards = PH_TASK_GUARDS_MOST + 1;
  EXPECT_EQ(ph_task_start(&config, &pe, &error), PH_ERR_ARGUMENT);
  EXPECT_NE(std::string(error.text).find("guards"), std::string::npos) << error.text;
}

TEST(TaskThread, CreatingWithoutAFunctionOrWithBitsThatDoNotFitIsRefused) {
  with_one_pe([](ph_task_pe* pe) {
    ThreadBody body = [](ph_task_pe*) {};
    ph_task_thread thread{};
    ph_task_thread_args args = args_of(body);
    EXPECT_EQ(ph_task_thread_create(pe, &args, nullptr), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_task_thread_create(pe, nullptr, &thread), PH_ERR_ARGUMENT);
    args.function = nullptr;
    EXPECT_EQ(ph_task_thread_create(pe, &args, &thread), PH_ERR_ARGUMENT);
    args = args_of(body);
    args.size = 8;
    EXPECT_EQ(ph_task_thread_create(pe, &args, &thread), PH_ERR_ARGUMENT);
    args = args_of(body);
    const ph_task_priority priority{PH_TASK_INT_FIFO, 31, &thread};
    args.priority = &priority;
    EXPECT_EQ(ph_task_thread_create(pe, &args, &thread), PH_ERR_ARGUMENT);
    EXPECT_TRUE(says(pe, "ph_task_thread_create: 31 bits do not fit"));
    EXPECT_EQ(threads_of_pe(pe).threads, 0u);
    thread = make_thread(pe, body);
    EXPECT_EQ(ph_task_thread_strategy(pe, thread, &priority), PH_ERR_ARGUMENT);
  });
}

// Its function has caught what leaves its frames, or a destructor calls.
TEST(TaskThread, OneThatIsFreedCannotStopAgain) {
  struct Stops {
    ph_task_pe* pe;
    ph_status status = PH_OK;
    bool* refused;
    ~Stops() { *refused = ph_task_thread_suspend(pe) == PH_ERR_STATE; }
  };
  with_one_pe([](ph_task_pe* pe) {
    bool refused = false;
    int caught = 0;
    ThreadBody body = [&](ph_task_pe* own) {
      const Stops stops{.pe = own, .refused = &refused};
      while (caught < 3) {
        try {
          ph_task_thread_suspend(own);
        } catch (...) {
          ++caught;
        }
      }
      ph_task_thread_suspend(own);
      ADD_FAILURE() << "it was freed";
    };
    const ph_task_thread thread = begin(pe, body);
    run_all(pe);
    EXPECT_EQ(ph_task_thread_free(pe, thread), PH_OK);
    EXPECT_EQ(caught, 3);
    EXPECT_TRUE(refused);
    EXPECT_EQ(threads_of_pe(pe).threads, 0u);
  });
}

TEST(TaskThread, EachHasItsOwnVariables) {
  with_one_pe([](ph_task_pe* pe) {
    std::uint32_t number = 9;
    std::uint32_t text = 9;
    std::uint32_t late = 9;
    ThreadBody before = [&](ph_task_pe* own) {
      EXPECT_EQ(ph_task_thread_value(own, number), nullptr);
      EXPECT_TRUE(says(own, "was registered when thread 0 had been made already"));
    };
    begin(pe, before);
    ASSERT_EQ(ph_task_thread_variable(pe, sizeof(std::uint64_t), &number), PH_OK);
    ASSERT_EQ(ph_task_thread_variable(pe, 100, &text), PH_OK);
    EXPECT_EQ(number, 0u);
    EXPECT_EQ(text, 1u);
    std::vector<ThreadBody> bodies;
    for (std::uint64_t i = 1; i <= 3; ++i)
      bodies.push_back([&, i](ph_task_pe* own) {
        auto* value = static_cast<std::uint64_t*>(ph_task_thread_value(own, number));
        auto* bytes = static_cast<char*>(ph_task_thread_value(own, text));
        ASSERT_NE(value, nullptr);
        ASSERT_NE(bytes, nullptr);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes) % 16, 0u);
        EXPECT_EQ(*value, 0u);
        for (int byte = 0; byte < 100; ++byte) EXPECT_EQ(bytes[byte], 0);
        *value = i;
        std::memset(bytes, static_cast<int>(i), 100);
        ph_task_thread_yield(own);
        EXPECT_EQ(ph_task_thread_value(own, number), value);
        EXPECT_EQ(*value, i);
        EXPECT_EQ(bytes[99], static_cast<char>(i));
      });
    for (int round = 0; round < 2; ++round) {  // the second one on the stacks of the first
      for (ThreadBody& body : bodies) begin(pe, body);
      run_all(pe);
    }
    auto* own = static_cast<std::uint64_t*>(ph_task_thread_value(pe, number));
    ASSERT_NE(own, nullptr);
    EXPECT_EQ(*own, 0u) << "that of the PE";
    EXPECT_EQ(ph_task_thread_variable(pe, 0, &late), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_task_thread_variable(pe, 1, nullptr), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_task_thread_variable(pe, 1 << 20, &late), PH_ERR_MEMORY);
    EXPECT_TRUE(says(pe, "the variables of a thread have at most 1048576"));
    EXPECT_EQ(ph_task_thread_value(pe, 2), nullptr);
    EXPECT_TRUE(says(pe, "there is no variable 2: 2 are registered"));
  });
}

// The address space of the process is too small for the stack, and mappings are left.
TEST(TaskThread, WhatTheKernelRefusesIsNotLaidToTheLimitOfMappings) {
  with_one_pe([](ph_task_pe* pe) {
    ThreadBody body = [](ph_task_pe*) {};
    ph_task_thread_args args = args_of(body);
    args.stack_bytes = std::uint64_t{1} << 36;
    ph_task_thread thread{};
    unsigned long long pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
    rlimit now = before;
    now.rlim_cur = pages * 4096 + (rlim_t{1} << 35);
    if (now.rlim_cur > before.rlim_max) GTEST_SKIP() << "address space is limited already";
    ASSERT_EQ(setrlimit(RLIMIT_AS, &now), 0);
    EXPECT_EQ(ph_task_thread_create(pe, &args, &thread), PH_ERR_MEMORY);
    ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
    EXPECT_TRUE(says(pe, "the kernel has refused the memory of a stack of 68719476736 bytes"));
    EXPECT_EQ(words_of(pe).find("vm.max_map_count"), std::string::npos);
  });
}

TEST(TaskThread, CallsOfAThreadThatIsNoPesAreRefused) {
  with_one_pe([](ph_task_pe* pe) {
    ThreadBody body = [](ph_task_pe* own) { ph_task_thread_suspend(own); };
    const ph_task_thread thread = begin(pe, body);
    run_all(pe);
    std::thread([&] {
      const ph_task_thread_args args = args_of(body);
      ph_task_thread other{};
      std::uint32_t variable = 0;
      EXPECT_EQ(ph_task_thread_create(pe, &args, &other), PH_ERR_STATE);
      EXPECT_EQ(ph_task_thread_self(pe).generation, 0u);
      EXPECT_EQ(ph_task_thread_suspend(pe), PH_ERR_STATE);
      EXPECT_EQ(ph_task_thread_yield(pe), PH_ERR_STATE);
      EXPECT_EQ(ph_task_thread_awaken(pe, thread), PH_ERR_STATE);
      EXPECT_TRUE(says(pe, "ph_task_thread_awaken: this thread is not that of PE 0"));
      EXPECT_EQ(ph_task_thread_join(pe, thread), PH_ERR_STATE);
      EXPECT_EQ(ph_task_thread_free(pe, thread), PH_ERR_STATE);
      EXPECT_EQ(ph_task_thread_strategy(pe, thread, nullptr), PH_ERR_STATE);
      EXPECT_EQ(ph_task_thread_variable(pe, 8, &variable), PH_ERR_STATE);
      EXPECT_EQ(ph_task_thread_value(pe, 0), nullptr);
      EXPECT_TRUE(says(pe, "ph_task_thread_value: this thread is not that of PE 0"));
    }).join();
    EXPECT_EQ(threads_of_pe(pe).threads, 1u);
    EXPECT_EQ(ph_task_thread_awaken(pe, thread), PH_OK);
    run_all(pe);
  });
}

}  // namespace
}  // namespace photon::task::test
