#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

#include "forked_job.hpp"
#include "task/task_job.hpp"

namespace photon::task::test {
namespace {

ph_task_list list_of(const std::vector<std::uint32_t>& pes) {
  return {sizeof(ph_task_list), pes.data(), pes.size()};
}

TEST(TaskManyApi, several_messages_are_met_in_order_and_their_block_is_freed_once) {
  constexpr std::uint64_t kEach = 5, kRounds = 40;
  TaskJob job(2, 2);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    std::vector<std::uint64_t> next(place.pes);
    std::uint64_t left = place.pes * kRounds * (kEach + 1);
    std::vector<ph_task_message*> kept;
    Function take = [&](ph_task_pe* one, ph_task_message* message) {
      const std::uint64_t value = value_of(message);
      EXPECT_EQ(value, next[ph_task_source(message)]++) << "in the order of the calls";
      const std::uint64_t size = ph_task_size(message);
      EXPECT_EQ(size, 8 + value * 13 % 200);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(ph_task_body(message)) % 64, 0u);
      if (size > 8) {
        EXPECT_EQ(static_cast<char*>(ph_task_body(message))[size - 1], 'y');
      }
      kept.push_back(message);  // all parts at the same time
      if (--left == 0) ph_task_stop(one);
    };
    const std::uint32_t number = enroll(pe, take);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    for (std::uint32_t to = 0; to < place.pes; ++to) {
      std::uint64_t value = 0;
      const auto make_next = [&] {
        const std::uint64_t size = 8 + value * 13 % 200;
        ph_task_message* message = make(pe, number, value++, size);
        if (size > 8) static_cast<char*>(ph_task_body(message))[size - 1] = 'y';
        return message;
      };
      for (std::uint64_t round = 0; round < kRounds; ++round) {
        std::vector<ph_task_message*> messages;
        for (std::uint64_t i = 0; i < kEach; ++i) messages.push_back(make_next());
        ph_task_message* shared = messages[round % kEach];  // a copy of it travels
        if (round % 2 == 0) {
          ASSERT_EQ(ph_task_retain(pe, shared), PH_OK);
        }
        ASSERT_EQ(ph_task_send_many(pe, to, messages.data(), messages.size()), PH_OK);
        if (round % 2 == 0) {
          ASSERT_EQ(ph_task_free(pe, shared), PH_OK) << "it was kept";
        }
        ASSERT_EQ(ph_task_send(pe, to, make_next()), PH_OK);
      }
    }
    ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
    std::ranges::reverse(kept);
    for (ph_task_message* message : kept) EXPECT_EQ(ph_task_free(pe, message), PH_OK);
    EXPECT_EQ(ph_task_free(pe, kept.back()), PH_ERR_STATE);
  });
}

TEST(TaskManyApi, a_message_that_stands_twice_leaves_all_with_their_caller) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    ph_task_message* messages[] = {make(pe, 0, 0), make(pe, 0, 1), nullptr, nullptr};
    messages[2] = messages[0];
    EXPECT_EQ(ph_task_send_many(pe, 0, messages, 3), PH_ERR_STATE);
    EXPECT_NE(words_of(pe).find("a message stands twice"), std::string::npos) << words_of(pe);
    EXPECT_EQ(ph_task_send_many(pe, 0, messages, 0), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_task_send_many(pe, 0, nullptr, 2), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_task_send_many(pe, 1, messages, 2), PH_ERR_RANK);
    messages[2] = nullptr;
    EXPECT_EQ(ph_task_send_many(pe, 0, messages, 3), PH_ERR_ARGUMENT);
    EXPECT_NE(words_of(pe).find("ph_task_send_many: message is null"), std::string::npos);
    EXPECT_EQ(ph_task_free(pe, messages[0]), PH_OK);
    EXPECT_EQ(ph_task_send_many(pe, 0, messages, 2), PH_ERR_STATE) << "one of them is free";
    EXPECT_EQ(ph_task_free(pe, messages[1]), PH_OK);
  });
}

// PE 1 holds a message that PE 0 names in one call after the other, with many that it holds alone.
TEST(TaskManyApi, a_message_that_others_hold_is_not_marked_while_it_is_looked_for) {
  constexpr std::size_t kCount = 5'000;
  constexpr std::uint64_t kCalls = 300, kReads = 200;
  std::atomic<ph_task_message*> shared{nullptr};
  std::atomic<std::uint64_t> calls{0}, reads{0}, refused{0};
  TaskJob job(1, 2);
  job.run([&](ph_task_pe* pe, const ph_task_place& place) {
    Function take = [](ph_task_pe* one, ph_task_message* message) { ph_task_free(one, message); };
    const std::uint32_t number = enroll(pe, take);
    if (place.pe == 1) {
      while (shared == nullptr) std::this_thread::yield();
      for (; calls < kCalls || reads < kReads; ++reads) {
        if (ph_task_send_copy(pe, 1, shared) != PH_OK) ++refused;
        ASSERT_EQ(ph_task_run(pe, 0, nullptr), PH_OK);
        std::this_thread::yield();
      }
      EXPECT_EQ(ph_task_free(pe, shared), PH_OK);
      return;
    }
    std::vector<ph_task_message*> messages;
    for (std::size_t i = 0; i < kCount; ++i) messages.push_back(make(pe, number, i));
    messages.push_back(messages[1]);
    ASSERT_EQ(ph_task_retain(pe, messages[0]), PH_OK);
    shared = messages[0];
    for (; calls < kCalls || reads < kReads; ++calls)
      ASSERT_EQ(ph_task_send_many(pe, 0, messages.data(), messages.size()), PH_ERR_STATE);
    messages.back() = messages[0];
    EXPECT_EQ(ph_task_send_many(pe, 0, messages.data(), messages.size()), PH_ERR_STATE)
        << "as long as it is shared its address is compared";
    messages.pop_back();
    EXPECT_EQ(ph_task_send_many(pe, 0, messages.data(), messages.size()), PH_OK);
    std::uint64_t ran = 0;
    EXPECT_EQ(ph_task_run(pe, 0, &ran), PH_OK);
    EXPECT_EQ(ran, kCount);
  });
  EXPECT_EQ(refused, 0u) << "it was never given away";
}

TEST(TaskManyApi, a_vector_gathers_its_blocks_at_the_call) {
  TaskJob job(2, 1);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    const std::string expected = "abcdefgh" + std::string(50'000, 'x');
    std::uint64_t met = 0;
    Function take = [&](ph_task_pe* one, ph_task_message* message) {
      const std::string body(static_cast<char*>(ph_task_body(message)), ph_task_size(message));
      EXPECT_EQ(body, met == 0 ? "" : expected);
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
      if (++met == 2) ph_task_stop(one);
    };
    const std::uint32_t number = enroll(pe, take);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    std::string parts[] = {"abc", "defgh", std::string(50'000, 'x')};
    const std::vector<ph_const_block> blocks = {
        {parts[0].data(), 3}, {nullptr, 0}, {parts[1].data(), 5}, {parts[2].data(), 50'000}};
    const std::uint32_t to = 1 - place.pe;
    ASSERT_EQ(ph_task_send_vector(pe, to, number, nullptr, 0), PH_OK);
    ASSERT_EQ(ph_task_send_vector(pe, to, number, blocks.data(), blocks.size()), PH_OK);
    for (std::string& part : parts) std::ranges::fill(part, '?');
    EXPECT_EQ(ph_task_send_vector(pe, 9, number, blocks.data(), 1), PH_ERR_RANK);
    EXPECT_EQ(ph_task_send_vector(pe, to, number, nullptr, 1), PH_ERR_ARGUMENT);
    const ph_const_block wrong[] = {{nullptr, 3}};
    EXPECT_EQ(ph_task_send_vector(pe, to, number, wrong, 1), PH_ERR_ARGUMENT);
    const ph_const_block wraps[] = {{parts, ~std::size_t{0}}, {parts, 2}};
    EXPECT_EQ(ph_task_send_vector(pe, to, number, wraps, 2), PH_ERR_ARGUMENT);
    const ph_const_block huge[] = {{parts, std::size_t{1} << 60}};
    EXPECT_EQ(ph_task_send_vector(pe, to, number, huge, 1), PH_ERR_MEMORY);
    ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
  });
}

TEST(TaskManyApi, bad_lists_and_groups_leave_the_message_with_its_caller) {
  TaskJob job(1, 2);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    ph_task_message* message = make(pe, 0, 0);
    std::uint32_t group = 77;
    struct Bad {
      std::vector<std::uint32_t> pes;
      ph_status status;
      const char* words;
    };
    for (const Bad& bad :
         {Bad{{2}, PH_ERR_RANK, "there is no PE 2: the job has 2"},
          Bad{{1, 1}, PH_ERR_ARGUMENT, "a PE stands twice in the list: name each once"},
          Bad{{0, 1, 0}, PH_ERR_ARGUMENT, "3 PEs are listed, and the job has 2"}}) {
      const ph_task_list list = list_of(bad.pes);
      EXPECT_EQ(ph_task_send_list(pe, &list, message, 0), bad.status);
      EXPECT_EQ(words_of(pe), std::string("ph_task_send_list: ") + bad.words);
      EXPECT_EQ(ph_task_group(pe, &list, &group), bad.status);
      EXPECT_EQ(words_of(pe), std::string("ph_task_group: ") + bad.words);
    }
    ph_task_list list = list_of({});
    EXPECT_EQ(ph_task_send_list(pe, nullptr, message, 0), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_task_send_list(pe, &list, message, PH_TASK_WITH_SELF), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_task_send_list(pe, &list, nullptr, 0), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_task_group(pe, &list, nullptr), PH_ERR_ARGUMENT);
    list.size = 1;
    EXPECT_EQ(ph_task_group(pe, &list, &group), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_task_multicast(pe, 0, message, 0), PH_ERR_NOT_FOUND);
    EXPECT_NE(words_of(pe).find("has made no group 0: call ph_task_group()"), std::string::npos);
    list.size = sizeof list;
    EXPECT_EQ(ph_task_send_list(pe, &list, message, PH_TASK_KEEP), PH_OK) << "to nobody";
    EXPECT_EQ(ph_task_group(pe, &list, &group), PH_OK);
    EXPECT_EQ(group, 0u) << "refused ones took no number";
    EXPECT_EQ(ph_task_multicast(pe, group, message, PH_TASK_WITH_SELF), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_task_multicast(pe, group, message, 0), PH_OK);
    EXPECT_EQ(ph_task_free(pe, message), PH_ERR_STATE) << "it was given away, to nobody";
  });
}

// One PE ends all runs, nested ones too, of whoever works, sleeps, or has not begun yet.
TEST(TaskManyApi, exit_ends_the_runs_of_all_pes_with_its_status) {
  TaskJob job(3, 2);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    Function again = [](ph_task_pe* one, ph_task_message* message) {
      EXPECT_EQ(ph_task_send(one, place_of(one).pe, message), PH_OK);
    };
    std::uint64_t nested = 0;
    Function nest = [&](ph_task_pe* one, ph_task_message* message) {
      ph_task_free(one, message);
      EXPECT_EQ(ph_task_run(one, -1, &nested), PH_OK);
    };
    Function end = [](ph_task_pe* one, ph_task_message* message) {
      ph_task_free(one, message);
      EXPECT_EQ(ph_task_exit(one, -5), PH_OK);
    };
    const std::uint32_t agains = enroll(pe, again), nests = enroll(pe, nest),
                        ends = enroll(pe, end);
    std::int32_t status = 0;
    EXPECT_EQ(ph_task_exit_status(pe, &status), PH_ERR_STATE);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    if (place.pe == 3) {
      ASSERT_EQ(ph_task_send(pe, 3, make(pe, nests, 0)), PH_OK);
    }
    if (place.pe == 4) {
      ASSERT_EQ(ph_task_send(pe, 4, make(pe, agains, 0)), PH_OK);
    }
    if (place.pe == 1) {
      ASSERT_EQ(ph_task_send(pe, 1, make(pe, ends, 0)), PH_OK);
    }
    ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
    EXPECT_EQ(ph_task_exit_status(pe, &status), PH_OK);
    EXPECT_EQ(status, -5);
    EXPECT_EQ(ph_task_run(pe, 1, nullptr), PH_ERR_STATE);
    EXPECT_NE(words_of(pe).find("ph_task_exit() has ended the runs"), std::string::npos);
  });
}

// Real processes: 2 of 3 wait, one of them asleep in a run, for what never comes.
TEST(TaskManyApi, abort_ends_all_processes) {
  constexpr std::uint32_t kProcesses = 3;
  const std::vector<int> ends =
      photon::test::fork_ranks(kProcesses, [](const ph_bootstrap& bootstrap) {
        ph_config photon{};
        photon.size = sizeof photon;
        photon.bootstrap = &bootstrap;
        ph_task_config config{};
        config.size = sizeof config;
        config.photon = &photon;
        ph_task_pe* pe = nullptr;
        if (ph_task_start(&config, &pe, nullptr) != PH_OK) return 1;
        if (ph_task_agree(pe) != PH_OK) return 2;
        if (place_of(pe).pe == 1) ph_task_abort(pe, "a reason that all are told");
        static_cast<void>(ph_task_run(pe, -1, nullptr));
        return 3;
      });
  for (const int end : ends) {
    ASSERT_TRUE(WIFSIGNALED(end)) << end;
    EXPECT_EQ(WTERMSIG(end), SIGABRT);
  }
}

TEST(TaskManyApiDeathTest, abort_says_who_and_why) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_DEATH(
      {
        TaskJob job(2, 1);
        job.run([](ph_task_pe* pe, const ph_task_place& place) {
          if (place.pe == 0) ph_task_abort(pe, "there is no more paper");
          ph_task_run(pe, -1, nullptr);
        });
      },
      "PE 0 has aborted the job: there is no more paper");
}

TEST(TaskManyApi, a_thread_that_is_no_pes_is_refused_and_touches_nothing) {
  TaskJob job(2, 1);  // the words are those of the latest thread of a process
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    ph_task_message* message = make(pe, 0, 0);
    EXPECT_EQ(ph_task_send(pe, 7, message), PH_ERR_RANK);
    std::thread other([&] {
      const std::uint32_t own = place.pe;
      const ph_task_list list = list_of({});
      std::uint32_t number = 0;
      std::int32_t status = 0;
      ph_task_message* made = nullptr;
      const ph_task_priority priority{PH_TASK_FIFO, 0, nullptr};
      const auto refuses = [&](const char* call, ph_status got) {
        EXPECT_EQ(got, PH_ERR_STATE) << call;
        EXPECT_EQ(words_of(pe), std::string(call) + ": this thread is not that of PE " +
                                    std::to_string(own) +
                                    ": make the call there, or send a message from a PE");
      };
      refuses("ph_task_send", ph_task_send(pe, own, message));
      refuses("ph_task_send_copy", ph_task_send_copy(pe, own, message));
      refuses("ph_task_send_node", ph_task_send_node(pe, 0, message));
      refuses("ph_task_broadcast", ph_task_broadcast(pe, message, 0));
      refuses("ph_task_send_many", ph_task_send_many(pe, own, &message, 1));
      refuses("ph_task_send_vector", ph_task_send_vector(pe, own, 0, nullptr, 0));
      refuses("ph_task_send_list", ph_task_send_list(pe, &list, message, 0));
      refuses("ph_task_group", ph_task_group(pe, &list, &number));
      refuses("ph_task_multicast", ph_task_multicast(pe, 0, message, 0));
      refuses("ph_task_enqueue", ph_task_enqueue(pe, message, &priority));
      refuses("ph_task_enqueue_node", ph_task_enqueue_node(pe, message, &priority));
      refuses("ph_task_alloc", ph_task_alloc(pe, 8, &made));
      refuses("ph_task_free", ph_task_free(pe, message));
      refuses("ph_task_retain", ph_task_retain(pe, message));
      refuses("ph_task_run", ph_task_run(pe, 0, nullptr));
      refuses("ph_task_stop", ph_task_stop(pe));
      refuses("ph_task_exit", ph_task_exit(pe, 0));
      refuses("ph_task_exit_status", ph_task_exit_status(pe, &status));
      refuses("ph_task_end", ph_task_end(pe));
    });
    other.join();
    EXPECT_NE(words_of(pe).find("there is no PE 7"), std::string::npos) << "the PE's own words";
    EXPECT_EQ(ph_task_free(pe, message), PH_OK);
  });
}

TEST(TaskManyApi, stop_outside_a_run_is_refused) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    EXPECT_EQ(ph_task_stop(pe), PH_ERR_STATE);
    EXPECT_EQ(words_of(pe), "ph_task_stop: no ph_task_run() is under way: call it in a handler");
  });
}

}  // namespace
}  // namespace photon::task::test
