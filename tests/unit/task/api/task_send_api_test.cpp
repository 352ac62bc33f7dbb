#include <gtest/gtest.h>

#include <vector>

#include "task/task_job.hpp"

namespace photon::task::test {
namespace {

TEST(TaskSendApi, bad_targets_and_flags_leave_the_message_with_its_caller) {
  TaskJob job(1, 2);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    ph_task_message* message = make(pe, 0, 0);
    EXPECT_EQ(ph_task_send(pe, 2, message), PH_ERR_RANK);
    EXPECT_NE(words_of(pe).find("there is no PE 2: the job has 2"), std::string::npos);
    EXPECT_EQ(ph_task_send_copy(pe, 7, message), PH_ERR_RANK);
    EXPECT_EQ(ph_task_send_node(pe, 1, message), PH_ERR_RANK);
    EXPECT_EQ(ph_task_broadcast(pe, message, 64), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_task_send(pe, 0, nullptr), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_task_free(pe, message), PH_OK);
  });
}

TEST(TaskSendApi, bits_that_fit_no_priority_are_refused) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    const std::int64_t value = 5;
    ph_task_message* message = make(pe, 0, 0);
    EXPECT_EQ(ph_task_enqueue(pe, message, nullptr), PH_ERR_ARGUMENT);
    for (const ph_task_priority priority :
         std::vector<ph_task_priority>{{PH_TASK_INT_FIFO, 31, &value},
                                       {PH_TASK_LONG_FIFO, 32, &value},
                                       {PH_TASK_FIFO, 1, &value},
                                       {PH_TASK_BITS_LIFO, 65'537, &value},
                                       {PH_TASK_INT_FIFO, 32, nullptr},
                                       {static_cast<ph_task_strategy>(8), 0, nullptr}}) {
      EXPECT_EQ(ph_task_enqueue(pe, message, &priority), PH_ERR_ARGUMENT);
      EXPECT_EQ(ph_task_enqueue_node(pe, message, &priority), PH_ERR_ARGUMENT);
    }
    EXPECT_EQ(ph_task_free(pe, message), PH_OK);
  });
}

// A message has one link and one long priority: of one that others hold a copy is enqueued.
TEST(TaskSendApi, who_holds_a_message_keeps_it_when_another_holder_enqueues_it) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    ph_task_message* kept = nullptr;
    std::vector<std::uint64_t> order;
    Function note = [&](ph_task_pe* one, ph_task_message* message) {
      EXPECT_NE(message, kept);
      order.push_back(value_of(message));
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
    };
    const std::uint32_t number = enroll(pe, note);
    for (const bool is_of_process : {false, true}) {
      kept = make(pe, number, 17, 64);
      ASSERT_EQ(ph_task_retain(pe, kept), PH_OK);
      std::uint32_t* words = static_cast<std::uint32_t*>(ph_task_body(kept)) + 4;
      for (const std::uint32_t word : {0x80000000U, 0U, 3U}) *words++ = word;
      const ph_task_priority priority{PH_TASK_BITS_FIFO, 96, words - 3};
      const auto enqueue = is_of_process ? ph_task_enqueue_node : ph_task_enqueue;
      ASSERT_EQ(enqueue(pe, kept, &priority), PH_OK);
      *(words - 1) = 9;  // the copy has words of its own
      const std::uint32_t behind[] = {0x80000000U, 0, 5};
      const ph_task_priority later{PH_TASK_BITS_FIFO, 96, behind};
      ASSERT_EQ(enqueue(pe, make(pe, number, 18), &later), PH_OK);
      ASSERT_EQ(ph_task_run(pe, 0, nullptr), PH_OK);
      EXPECT_EQ(value_of(kept), 17u);
      EXPECT_EQ(ph_task_free(pe, kept), PH_OK) << "one reference was ours all the time";
      EXPECT_EQ(ph_task_free(pe, kept), PH_ERR_STATE);
    }
    EXPECT_EQ(order, (std::vector<std::uint64_t>{17, 18, 17, 18}));
  });
}

// The queue of the process and that of the PE are one order; FIFO is behind equals, LIFO before.
TEST(TaskSendApi, both_priority_queues_are_one_order) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    std::vector<std::uint64_t> order;
    Function note = [&](ph_task_pe* one, ph_task_message* message) {
      order.push_back(value_of(message));
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
    };
    const std::uint32_t number = enroll(pe, note);
    const std::int32_t minus = -3, four = 4;
    const std::int64_t far = -100;
    const std::uint32_t words[] = {0x80000004u, 0, 1};
    const ph_task_priority first{PH_TASK_LONG_FIFO, 64, &far}, second{PH_TASK_INT_FIFO, 32, &minus},
        none_first{PH_TASK_LIFO, 0, nullptr}, none{PH_TASK_FIFO, 0, nullptr},
        fifth{PH_TASK_INT_LIFO, 32, &four}, last{PH_TASK_BITS_FIFO, 96, words};
    ASSERT_EQ(ph_task_enqueue(pe, make(pe, number, 6), &last), PH_OK);
    ASSERT_EQ(ph_task_enqueue_node(pe, make(pe, number, 5), &fifth), PH_OK);
    ASSERT_EQ(ph_task_enqueue(pe, make(pe, number, 4), &none), PH_OK);
    ASSERT_EQ(ph_task_enqueue(pe, make(pe, number, 3), &none_first), PH_OK);
    ASSERT_EQ(ph_task_enqueue_node(pe, make(pe, number, 1), &second), PH_OK);
    // A 64-bit number is a longer vector than an int: -100 begins as the int -1 does.
    ASSERT_EQ(ph_task_enqueue(pe, make(pe, number, 2), &first), PH_OK);
    ASSERT_EQ(ph_task_run(pe, 0, nullptr), PH_OK);
    EXPECT_EQ(order, (std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6}));
  });
}

}  // namespace
}  // namespace photon::task::test
