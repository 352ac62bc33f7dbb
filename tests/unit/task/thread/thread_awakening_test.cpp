// Awakenings by other PEs, which come when they come.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <vector>

#include "task/thread/thread_calls.hpp"

namespace photon::task::test {
namespace {

// Rounds between two PEs: a thread hands its name to the other PE and suspends, which awakens it
// from there. The awakening comes before the suspension as well as after it.
void go_round_two_pes(std::uint32_t processes, std::uint32_t pes) {
  constexpr int kLaps = 500;
  TaskJob job(processes, pes);
  job.run([&](ph_task_pe* pe, const ph_task_place& place) {
    int done = 0;
    Function awaken = [](ph_task_pe* own, ph_task_message* message) {
      ph_task_thread thread;
      std::memcpy(&thread, ph_task_body(message), sizeof thread);
      ph_task_free(own, message);
      EXPECT_EQ(ph_task_thread_awaken(own, thread), PH_OK) << words_of(own);
    };
    Function stop = [](ph_task_pe* own, ph_task_message* message) {
      ph_task_free(own, message);
      ph_task_stop(own);
    };
    const std::uint32_t awakens = enroll(pe, awaken), stops = enroll(pe, stop);
    ThreadBody body = [&](ph_task_pe* own) {
      for (; done < kLaps; ++done) {
        ph_task_message* message = make(own, awakens, 0, sizeof(ph_task_thread));
        const ph_task_thread self = ph_task_thread_self(own);
        std::memcpy(ph_task_body(message), &self, sizeof self);
        EXPECT_EQ(ph_task_send(own, 1, message), PH_OK);
        if (done % 7 == 0) {  // it may come meanwhile
          EXPECT_EQ(ph_task_thread_yield(own), PH_OK);
        }
        EXPECT_EQ(ph_task_thread_suspend(own), PH_OK);
      }
      EXPECT_EQ(ph_task_broadcast(own, make(own, stops, 0), PH_TASK_WITH_SELF), PH_OK);
    };
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    if (place.pe == 0) begin(pe, body);
    ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
    EXPECT_EQ(done, place.pe == 0 ? kLaps : 0);
    EXPECT_EQ(threads_of_pe(pe).stale_tokens, 0u);
  });
}

TEST(TaskThread, AwakenedFromAnotherPe) { go_round_two_pes(1, 2); }

TEST(TaskThread, AwakenedFromAnotherProcess) { go_round_two_pes(2, 1); }

// A thread that goes from one awakening to the next one, each time by another PE: between two of
// them there is nothing but a message or a token, and it is quiet when the last one was used up.
void be_quiet_behind_a_thread(std::uint32_t processes, std::uint32_t pes) {
  constexpr int kLaps = 200;
  std::atomic<int> done{0};
  std::atomic<int> answers{0};
  TaskJob job(processes, pes);
  job.run([&](ph_task_pe* pe, const ph_task_place& place) {
    Function awaken = [](ph_task_pe* own, ph_task_message* message) {
      ph_task_thread thread;
      std::memcpy(&thread, ph_task_body(message), sizeof thread);
      ph_task_free(own, message);
      EXPECT_EQ(ph_task_thread_awaken(own, thread), PH_OK) << words_of(own);
    };
    Function stop = [](ph_task_pe* own, ph_task_message* message) {
      ph_task_free(own, message);
      ph_task_stop(own);
    };
    const std::uint32_t awakens = enroll(pe, awaken), stops = enroll(pe, stop);
    Function quiet = [&](ph_task_pe* own, ph_task_message* message) {
      ph_task_free(own, message);
      ++answers;
      EXPECT_EQ(done, kLaps) << "it is early";
      EXPECT_EQ(ph_task_broadcast(own, make(own, stops, 0), PH_TASK_WITH_SELF), PH_OK);
    };
    const std::uint32_t quiets = enroll(pe, quiet);
    ThreadBody body = [&](ph_task_pe* own) {
      EXPECT_EQ(ph_task_quiesce(own, quiets), PH_OK);
      for (; done < kLaps; ++done) {
        ph_task_message* message = make(own, awakens, 0, sizeof(ph_task_thread));
        const ph_task_thread self = ph_task_thread_self(own);
        std::memcpy(ph_task_body(message), &self, sizeof self);
        EXPECT_EQ(ph_task_send(own, 1, message), PH_OK);
        EXPECT_EQ(ph_task_thread_suspend(own), PH_OK);
      }
    };
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    if (place.pe == 0) begin(pe, body);
    ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
  });
  EXPECT_EQ(answers, 1);
}

TEST(TaskQuiesce, TokenOfAnAwakenedThreadCounts) { be_quiet_behind_a_thread(1, 2); }

TEST(TaskQuiesce, TokenOfAThreadThatAnotherProcessAwakensCounts) { be_quiet_behind_a_thread(2, 1); }

// Two awakenings by another PE end two suspensions, whenever they come.
TEST(TaskThread, an_awakening_that_was_accepted_is_never_lost) {
  TaskJob job(1, 2);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    ph_task_thread thread{};
    bool is_over = false;
    Function awaken = [](ph_task_pe* own, ph_task_message* message) {
      ph_task_thread named;
      std::memcpy(&named, ph_task_body(message), sizeof named);
      EXPECT_EQ(ph_task_thread_awaken(own, named), PH_OK);
      EXPECT_EQ(ph_task_thread_awaken(own, named), PH_OK);
      EXPECT_EQ(ph_task_thread_awaken(own, named), PH_OK);
      ph_task_set_handler(message, 1);
      EXPECT_EQ(ph_task_send(own, 0, message), PH_OK);
      ph_task_stop(own);
    };
    Function go_on = [](ph_task_pe* own, ph_task_message* message) {
      ph_task_free(own, message);
      ph_task_stop(own);
    };
    enroll(pe, awaken);
    enroll(pe, go_on);
    ThreadBody body = [&](ph_task_pe* own) {  // the first one starts it
      EXPECT_EQ(ph_task_thread_yield(own), PH_OK);
      EXPECT_EQ(ph_task_thread_suspend(own), PH_OK);
      EXPECT_EQ(ph_task_thread_suspend(own), PH_OK);
      is_over = true;
    };
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    if (place.pe == 0) {
      thread = make_thread(pe, body);
      ph_task_message* message = make(pe, 0, 0, sizeof thread);
      std::memcpy(ph_task_body(message), &thread, sizeof thread);
      ASSERT_EQ(ph_task_send(pe, 1, message), PH_OK);
    }
    ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
    run_all(pe);
    EXPECT_EQ(is_over, place.pe == 0);
  });
}

TEST(TaskThread, a_priority_counts_when_another_pe_awakens_too) {
  TaskJob job(1, 2);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    std::vector<int> order;
    ThreadBody body = [&](ph_task_pe*) { order.push_back(1); };
    Function note = [&](ph_task_pe* own, ph_task_message* message) {
      order.push_back(0);
      ph_task_free(own, message);
    };
    enroll(pe, note);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    if (place.pe == 0) {
      const std::int64_t last = 1'000'000;
      const ph_task_priority priority{PH_TASK_LONG_FIFO, 64, &last};
      ph_task_thread_args args = args_of(body);
      args.priority = &priority;
      ph_task_thread thread{};
      ASSERT_EQ(ph_task_thread_create(pe, &args, &thread), PH_OK);
      ASSERT_EQ(thread.number, 0u);
      const ph_task_priority none{};
      ASSERT_EQ(ph_task_enqueue(pe, make(pe, 0, 0), &none), PH_OK);
    }
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    if (place.pe == 1) {
      ASSERT_EQ(ph_task_thread_awaken(pe, {0, 0, 1}), PH_OK);
    }
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    if (place.pe == 0) {
      run_all(pe);
      EXPECT_EQ(order, (std::vector{0, 1}));
    }
  });
}

// Runs all there is, where it is destroyed.
struct RunsAll {
  explicit RunsAll(ph_task_pe* own) : pe(own) {}
  ~RunsAll() { run_all(pe); }
  RunsAll(const RunsAll&) = delete;
  RunsAll& operator=(const RunsAll&) = delete;
  ph_task_pe* pe;
};

// The token of a thread that was freed while it was ready has its turn on that thread's own stack.
// It is in the thread, or of the pool, where the priority has more than 64 bits.
TEST(TaskThread, one_that_was_freed_while_it_was_ready_is_not_entered_in_its_destructors) {
  const std::uint32_t words[3] = {1, 2, 3};
  const ph_task_priority priority{PH_TASK_BITS_FIFO, 96, words};
  for (const ph_task_priority* turn : {static_cast<const ph_task_priority*>(nullptr), &priority}) {
    TaskJob job(1, 1);
    job.run([turn](ph_task_pe* pe, const ph_task_place&) {
      int begun = 0;
      int others = 0;
      ThreadBody yields = [&](ph_task_pe* own) {
        ++begun;
        const RunsAll runs(own);
        ph_task_thread_yield(own);
        ADD_FAILURE() << "it was freed";
      };
      ThreadBody counts = [&](ph_task_pe*) { ++others; };
      const ph_task_thread thread = make_thread(pe, yields);
      ASSERT_EQ(ph_task_thread_strategy(pe, thread, turn), PH_OK);
      ASSERT_EQ(ph_task_thread_awaken(pe, thread), PH_OK);
      ASSERT_EQ(ph_task_run(pe, 1, nullptr), PH_OK);
      begin(pe, counts);
      EXPECT_EQ(ph_task_thread_free(pe, thread), PH_OK);
      EXPECT_EQ(begun, 1);
      EXPECT_EQ(others, 1) << "it has run in the destructor";
      EXPECT_EQ(threads_of_pe(pe).threads, 0u);
      EXPECT_EQ(threads_of_pe(pe).stale_tokens, 1u);
      begin(pe, counts);  // on the stack that was given back
      run_all(pe);
      EXPECT_EQ(others, 2);
      EXPECT_EQ(threads_of_pe(pe).stacks, 2u);
    });
  }
}

}  // namespace
}  // namespace photon::task::test
