#include "task/thread/stack_overflow.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstring>
#include <thread>

#include "task/thread/thread_calls.hpp"

namespace photon::task::test {
namespace {

// Deeper and deeper: each frame is used when the deeper ones have returned.
[[gnu::noinline]] int fall_deeper(int depth, int most) {
  char frame[512];
  std::memset(frame, depth, sizeof frame);
  asm volatile("" : : "r"(frame) : "memory");
  return depth == most ? 0 : fall_deeper(depth + 1, most) + frame[depth % 512];
}

void overflow_on_one_pe() {
  TaskJob job(1, 2);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    ThreadBody good = [](ph_task_pe* own) { ph_task_thread_suspend(own); };
    ThreadBody bad = [](ph_task_pe*) { fall_deeper(0, 1'000'000); };
    begin(pe, good);
    begin(pe, good);
    if (place.pe == 1) begin(pe, bad);
    run_all(pe);
    ph_task_run(pe, -1, nullptr);  // until the other one ends the process
  });
}

TEST(TaskThread, GuardPageNamesTheThread) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(overflow_on_one_pe(), testing::KilledBySignal(SIGSEGV),
              "photon task: PE 1: thread 2 has overflowed its stack of [0-9]+ bytes: give it more "
              "by stack_bytes");
}

void raise_in_a_thread() {
  struct sigaction earlier = {};
  earlier.sa_handler = [](int) {
    std::fputs("the program's own handler\n", stderr);
    std::_Exit(3);
  };
  sigaction(SIGSEGV, &earlier, nullptr);
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    ThreadBody body = [](ph_task_pe*) { raise(SIGSEGV); };
    begin(pe, body);
    run_all(pe);
  });
}

TEST(TaskThread, AnotherFaultGoesToTheEarlierHandler) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(raise_in_a_thread(), testing::ExitedWithCode(3), "the program's own handler");
}

// Nobody has handled it before; `disposition` is SIG_DFL or SIG_IGN.
void send_a_signal(void (*disposition)(int)) {
  struct sigaction earlier = {};
  earlier.sa_handler = disposition;
  sigaction(SIGSEGV, &earlier, nullptr);
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    ThreadBody body = [](ph_task_pe*) { raise(SIGSEGV); };
    begin(pe, body);
    run_all(pe);
    std::fputs("it went on\n", stderr);
    std::_Exit(4);
  });
}

TEST(TaskThread, ASignalThatSomebodySendsEndsTheProcessUnlessItIsIgnored) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(send_a_signal(SIG_DFL), testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(send_a_signal(SIG_IGN), testing::ExitedWithCode(4), "it went on");
}

// Without guards: it writes into the stack of its neighbour and yields. (The whole of the frame is
// written, so that the word is, too; and it lies on that stack, not on one of the sanitizer's.)
[[gnu::noinline, gnu::no_sanitize_address]] void write_below_the_stack(ph_task_pe* pe) {
  char frame[24 << 10];
  std::memset(frame, 1, sizeof frame);
  asm volatile("" : : "r"(frame) : "memory");
  ph_task_thread_yield(pe);
  asm volatile("" : : "r"(frame) : "memory");
}

void overflow_without_guards() {
  TaskJob job(1, 1);
  job.settings().guards = PH_TASK_GUARDS_OFF;
  job.settings().stack_bytes = 16384;
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    ThreadBody good = [](ph_task_pe* own) { ph_task_thread_suspend(own); };
    begin(pe, good);
    begin(pe, good);
    run_all(pe);
    ThreadBody bad = [](ph_task_pe* own) { write_below_the_stack(own); };
    begin(pe, bad);
    run_all(pe);
    std::_Exit(4);
  });
}

TEST(TaskThread, AnOverflowWithoutGuardsNamesTheThreadAtItsNextSwitch) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(overflow_without_guards(), testing::KilledBySignal(SIGABRT),
              "PE 0: thread 2 has overflowed its stack of [0-9]+ bytes: give it more by "
              "stack_bytes");
}

TEST(TaskOverflow, a_thread_gets_its_signal_stack_back_as_it_was) {
  std::thread([] {
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
    Stacks stacks(nullptr);
    stack_t during = {};
    {
      const OverflowWatch watch(stacks, 0);
      sigaltstack(nullptr, &during);
      EXPECT_EQ(during.ss_flags & SS_DISABLE, 0);
      {
        const OverflowWatch inner(stacks, 1);
        EXPECT_EQ(inner.outer(), &watch);
      }
      int here = 0;
      EXPECT_FALSE(watch.has_told(&here));
    }
    stack_t after = {};
    sigaltstack(nullptr, &after);
    EXPECT_NE(after.ss_flags & SS_DISABLE, 0);
  }).join();
}

}  // namespace
}  // namespace photon::task::test
