// A thread that stops goes over to the next one itself (docs/tasks.md, "The life of a thread").
// What the loop promises holds there as well.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "task/thread/thread_calls.hpp"

namespace photon::task::test {
namespace {

constexpr std::size_t kThreads = 4;
constexpr std::uint64_t kTurns = 400;  // of all threads

// Threads that yield, and note who they are each time, until there were so many turns.
class Yielding {
 public:
  explicit Yielding(ph_task_pe* pe) {
    for (std::size_t i = 0; i < kThreads; ++i)
      bodies_.push_back([this, i](ph_task_pe* own) {
        while (turns.size() < kTurns) {
          turns.push_back(i);
          if (at_turn) at_turn(own, turns.size());
          EXPECT_EQ(ph_task_thread_yield(own), PH_OK);
        }
      });
    for (ThreadBody& body : bodies_) begin(pe, body);
  }

  std::vector<std::size_t> turns;
  std::function<void(ph_task_pe*, std::size_t turn)> at_turn;

 private:
  std::vector<ThreadBody> bodies_;
};

TEST(TaskThreadPassing, each_turn_is_a_task_of_the_run) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    Yielding yielding(pe);
    std::size_t wanted = 0;
    for (const std::int64_t count : {1, 4, 7, 16, 1, 33}) {
      std::uint64_t ran = 0;
      EXPECT_EQ(ph_task_run(pe, count, &ran), PH_OK);
      EXPECT_EQ(ran, static_cast<std::uint64_t>(count));
      EXPECT_EQ(yielding.turns.size(), wanted += static_cast<std::size_t>(count));
    }
    std::uint64_t ran = 0;
    EXPECT_EQ(ph_task_run(pe, 0, &ran), PH_OK);
    EXPECT_EQ(wanted + ran, kTurns + kThreads) << "in its last turn each is over";
    for (std::size_t i = 0; i < yielding.turns.size(); ++i)
      ASSERT_EQ(yielding.turns[i], i % kThreads);
    EXPECT_EQ(threads_of_pe(pe).switches, kTurns + kThreads);
    EXPECT_EQ(threads_of_pe(pe).threads, 0u);
  });
}

TEST(TaskThreadPassing, a_stop_ends_the_run_behind_the_turn_that_has_called_it) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    Yielding yielding(pe);
    yielding.at_turn = [](ph_task_pe* own, std::size_t turn) {
      if (turn == 10) {
        EXPECT_EQ(ph_task_stop(own), PH_OK);
      }
    };
    EXPECT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
    EXPECT_EQ(yielding.turns.size(), 10u);
    run_all(pe);
    EXPECT_EQ(yielding.turns.size(), kTurns);
  });
}

TEST(TaskThreadPassing, queues_and_looks_have_their_turns) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    Yielding yielding(pe);
    std::vector<std::size_t> met;  // behind how many turns
    Function handles = [&](ph_task_pe* own, ph_task_message* message) {
      ph_task_free(own, message);
      met.push_back(yielding.turns.size());
    };
    const std::uint32_t number = enroll(pe, handles);
    yielding.at_turn = [&](ph_task_pe* own, std::size_t turn) {
      if (turn != 100) return;
      const std::int32_t early = -1;
      const ph_task_priority priority{PH_TASK_INT_FIFO, 32, &early};
      EXPECT_EQ(ph_task_enqueue(own, make(own, number, 0), &priority), PH_OK);
      EXPECT_EQ(ph_task_send_node(own, place.process, make(own, number, 0)), PH_OK);
    };
    const std::uint64_t looks = counts_of(pe).looks;
    run_all(pe);
    ASSERT_EQ(met.size(), 2u);
    EXPECT_LE(met[0], 100u + 64);
    EXPECT_LE(met[1], 100u + 2 * 64);
    EXPECT_GE(counts_of(pe).looks - looks, kTurns / 16);
  });
}

// Handlers have their turns between those of threads, in the order in which they were queued.
TEST(TaskThreadPassing, keeps_the_order_of_threads_and_messages) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    std::vector<int> order;
    Function handles = [&order](ph_task_pe* own, ph_task_message* message) {
      order.push_back(static_cast<int>(value_of(message)));
      ph_task_free(own, message);
    };
    const std::uint32_t number = enroll(pe, handles);
    std::vector<ThreadBody> bodies;
    for (const int i : {1, 2, 3})
      bodies.push_back([&, i](ph_task_pe* own) {
        order.push_back(i);
        EXPECT_EQ(ph_task_thread_yield(own), PH_OK);
        order.push_back(10 * i);
        if (i != 2) return;
        EXPECT_EQ(ph_task_send(own, place.pe, make(own, number, 200)), PH_OK);
        EXPECT_EQ(ph_task_thread_yield(own), PH_OK);
        order.push_back(2000);
      });
    for (ThreadBody& body : bodies) begin(pe, body);
    run_all(pe);
    EXPECT_EQ(order, (std::vector{1, 2, 3, 10, 20, 30, 200, 2000}));
  });
}

// The one that is next was freed while it was ready: its token is dropped by the loop.
TEST(TaskThreadPassing, never_goes_over_to_a_thread_that_was_freed) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    ph_task_thread second{};
    int turns = 0;
    ThreadBody frees = [&](ph_task_pe* own) {
      EXPECT_EQ(ph_task_thread_yield(own), PH_OK);
      EXPECT_EQ(ph_task_thread_free(own, second), PH_OK) << words_of(own);
      EXPECT_EQ(ph_task_thread_yield(own), PH_OK);
      ++turns;
    };
    ThreadBody yields = [](ph_task_pe* own) {
      ph_task_thread_yield(own);
      ADD_FAILURE() << "it was freed";
    };
    begin(pe, frees);
    second = begin(pe, yields);
    run_all(pe);
    EXPECT_EQ(turns, 1);
    EXPECT_EQ(threads_of_pe(pe).stale_tokens, 1u);
    EXPECT_EQ(threads_of_pe(pe).threads, 0u);
  });
}

}  // namespace
}  // namespace photon::task::test
