#include "task/queue/process_queue.hpp"

#include <gtest/gtest.h>

#include "task/pool/pool.hpp"

namespace photon::task {
namespace {

constexpr std::uint32_t kNobody = ProcessQueue::kNobody;

struct Office {
  Message& make(std::uint32_t number) {
    Message& message = *pool.alloc(8);
    message.target = number;
    return message;
  }
  Returns returns{1};
  Pool pool{0, heap_memory(), returns, 0};
  ProcessQueue queue{4};
};

Priority int_priority(std::int32_t value) { return *priority_of(PriorityKind::number, 32, &value); }

TEST(TaskProcessQueue, what_came_first_is_taken_first) {
  Office office;
  EXPECT_TRUE(office.queue.is_empty());
  EXPECT_EQ(office.queue.pop(), nullptr);
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(office.queue.push(office.make(i)), kNobody);
  EXPECT_FALSE(office.queue.is_empty());
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(office.queue.pop()->target, i);
  EXPECT_EQ(office.queue.pop(), nullptr);
}

TEST(TaskProcessQueue, a_priority_is_taken_only_before_a_worse_one) {
  Office office;
  const auto fifo = PriorityQueue::Place::fifo;
  office.queue.push(office.make(5), int_priority(5), fifo);
  const Priority four = int_priority(4), five = int_priority(5), six = int_priority(6);
  EXPECT_EQ(office.queue.pop_before(&four), nullptr);
  EXPECT_EQ(office.queue.pop_before(&five), nullptr) << "of equals the PE's own comes first";
  EXPECT_EQ(office.queue.pop_before(&six)->target, 5u);
  EXPECT_FALSE(office.queue.has_prioritized());
  office.queue.push(office.make(7), int_priority(7), fifo);
  EXPECT_EQ(office.queue.pop_before(nullptr)->target, 7u);
  EXPECT_TRUE(office.queue.is_empty());
}

TEST(TaskProcessQueue, each_push_chooses_one_sleeper_and_none_twice) {
  Office office;
  EXPECT_TRUE(office.queue.begin_sleep(1));
  EXPECT_TRUE(office.queue.begin_sleep(3));
  const std::uint32_t one = office.queue.push(office.make(0));
  const std::uint32_t other =
      office.queue.push(office.make(1), int_priority(0), PriorityQueue::Place::fifo);
  EXPECT_EQ(one + other, 4u) << "each of the two once";
  EXPECT_EQ(office.queue.push(office.make(2)), kNobody);
}

TEST(TaskProcessQueue, nobody_falls_asleep_over_a_message) {
  Office office;
  office.queue.push(office.make(0));
  EXPECT_FALSE(office.queue.begin_sleep(0));
  office.queue.pop();
  office.queue.push(office.make(0), int_priority(0), PriorityQueue::Place::lifo);
  EXPECT_FALSE(office.queue.begin_sleep(0));
  EXPECT_EQ(office.queue.push(office.make(1)), kNobody) << "who did not fall asleep is not woken";
}

TEST(TaskProcessQueue, who_rises_by_itself_is_not_chosen) {
  Office office;
  EXPECT_TRUE(office.queue.begin_sleep(2));
  office.queue.end_sleep(2);
  EXPECT_EQ(office.queue.push(office.make(0)), kNobody);
}

}  // namespace
}  // namespace photon::task
