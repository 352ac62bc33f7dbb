// Threads that are dropped: they end, and their frames are forgotten.
#include <gtest/gtest.h>
#include <photon/task.h>

#include "task/thread/thread_calls.hpp"

namespace photon::task::test {
namespace {

// Counts frames that are left.
struct DroppedFrame {
  explicit DroppedFrame(int& number) : count(number) {}
  ~DroppedFrame() { ++count; }
  DroppedFrame(const DroppedFrame&) = delete;
  DroppedFrame& operator=(const DroppedFrame&) = delete;
  int& count;
};

// Functions that are noexcept may stand in its frames.
TEST(TaskThread, drop_ends_a_thread_and_forgets_its_frames) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    int left = 0;
    int joined = 0;
    ThreadBody suspends = [&](ph_task_pe* own) noexcept {
      const DroppedFrame noted(left);
      ph_task_thread_suspend(own);
    };
    ThreadBody yields = [&](ph_task_pe* own) noexcept {
      const DroppedFrame noted(left);
      ph_task_thread_yield(own);
    };
    const ph_task_thread suspended = begin(pe, suspends);
    ThreadBody joins = [&](ph_task_pe* own) {
      ph_task_thread_join(own, suspended);
      ++joined;
    };
    const ph_task_thread joining = begin(pe, joins);
    begin(pe, joins);
    const ph_task_thread ready = begin(pe, yields);
    const ph_task_thread made = make_thread(pe, suspends);
    ASSERT_EQ(ph_task_run(pe, 4, nullptr), PH_OK);
    for (const ph_task_thread thread : {ready, made, joining, suspended})
      EXPECT_EQ(ph_task_thread_drop(pe, thread), PH_OK) << words_of(pe);
    run_all(pe);
    EXPECT_EQ(joined, 1);
    EXPECT_EQ(left, 0);
    EXPECT_EQ(threads_of_pe(pe).threads, 0u);
    EXPECT_EQ(threads_of_pe(pe).stale_tokens, 1u) << "that of the one that was ready";
    EXPECT_EQ(ph_task_thread_drop(pe, ready), PH_ERR_STATE);
  });
}

}  // namespace
}  // namespace photon::task::test
