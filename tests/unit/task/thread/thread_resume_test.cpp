// ph_task_thread_resume(): a turn inside of the call, of whoever the program chooses.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "task/thread/thread_calls.hpp"

namespace photon::task::test {
namespace {

TEST(TaskThreadResume, gives_a_thread_its_turn_inside_of_the_call) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    std::vector<int> steps;
    ThreadBody body = [&](ph_task_pe* own) {
      steps.push_back(1);
      ph_task_thread_suspend(own);
      steps.push_back(3);
    };
    const ph_task_thread thread = make_thread(pe, body);
    ASSERT_EQ(ph_task_thread_resume(pe, thread), PH_OK) << words_of(pe);
    steps.push_back(2);
    ASSERT_EQ(ph_task_thread_resume(pe, thread), PH_OK) << words_of(pe);
    steps.push_back(4);
    EXPECT_EQ(steps, (std::vector<int>{1, 2, 3, 4}));
    EXPECT_EQ(threads_of_pe(pe).threads, 0u);
    EXPECT_EQ(threads_of_pe(pe).switches, 2u);
    EXPECT_EQ(ph_task_thread_resume(pe, thread), PH_ERR_STATE) << "it is over";
  });
}

TEST(TaskThreadResume, a_thread_that_resumes_another_one_stays_itself) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    int turns = 0;
    ThreadBody inner = [&](ph_task_pe* own) {
      for (; turns < 3; ++turns) ph_task_thread_suspend(own);
    };
    const ph_task_thread other = make_thread(pe, inner);
    ThreadBody outer = [&](ph_task_pe* own) {
      const ph_task_thread self = ph_task_thread_self(own);
      for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(ph_task_thread_resume(own, other), PH_OK) << words_of(own);
        EXPECT_EQ(ph_task_thread_self(own).number, self.number);
        EXPECT_EQ(ph_task_thread_yield(own), PH_OK) << "it may still stop";
      }
    };
    begin(pe, outer);
    run_all(pe);
    EXPECT_EQ(turns, 3);
    EXPECT_EQ(threads_of_pe(pe).threads, 0u);
  });
}

TEST(TaskThreadResume, a_handler_may_resume_and_what_yields_goes_on_by_its_token) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    std::string steps;
    ThreadBody body = [&](ph_task_pe* own) {
      steps += 'a';
      ph_task_thread_yield(own);
      steps += 'c';
    };
    const ph_task_thread thread = make_thread(pe, body);
    Function handler = [&](ph_task_pe* own, ph_task_message* message) {
      ph_task_free(own, message);
      EXPECT_EQ(ph_task_thread_resume(own, thread), PH_OK) << words_of(own);
      EXPECT_EQ(ph_task_thread_resume(own, thread), PH_ERR_STATE) << "it is ready";
      steps += 'b';
    };
    const std::uint32_t number = enroll(pe, handler);
    ASSERT_EQ(ph_task_send(pe, place.pe, make(pe, number, 0)), PH_OK);
    run_all(pe);
    EXPECT_EQ(steps, "abc");
  });
}

TEST(TaskThreadResume, one_that_does_not_wait_is_refused) {
  TaskJob job(1, 2);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    ThreadBody body = [](ph_task_pe* own) {
      EXPECT_EQ(ph_task_thread_resume(own, ph_task_thread_self(own)), PH_ERR_STATE);
      EXPECT_NE(words_of(own).find("runs: only one that waits can be resumed"), std::string::npos)
          << words_of(own);
    };
    begin(pe, body);
    run_all(pe);
    EXPECT_EQ(ph_task_thread_resume(pe, {1 - place.pe, 0, 1}), PH_ERR_RANK);
    EXPECT_EQ(ph_task_thread_resume(pe, {place.pe, 7, 1}), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_task_thread_resume(nullptr, {}), PH_ERR_ARGUMENT);
  });
}

}  // namespace
}  // namespace photon::task::test
