#include "task/queue/process_queue.hpp"

#include <gtest/gtest.h>

#include "task/pool/pool.hpp"

namespace photon::task {
namespace {

constexpr std::uint32_t kNobody = ProcessQueue::kNobody;
using Rest = ProcessQueue::Rest;

struct Office {
  Message& make(std::uint32_t number) {
    Message& message = *pool.alloc(8);
    message.target = number;
    return message;
  }
  Returns returns{1};
  Pool pool{0, heap_memory(), returns, 0};
  ProcessQueue queue{4, false};
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
  EXPECT_EQ(office.queue.begin_sleep(1), Rest::sleep);
  EXPECT_EQ(office.queue.begin_sleep(3), Rest::sleep);
  const std::uint32_t one = office.queue.push(office.make(0));
  const std::uint32_t other =
      office.queue.push(office.make(1), int_priority(0), PriorityQueue::Place::fifo);
  EXPECT_EQ(one + other, 4u) << "each of the two once";
  EXPECT_EQ(office.queue.push(office.make(2)), kNobody);
}

TEST(TaskProcessQueue, nobody_falls_asleep_over_a_message) {
  Office office;
  office.queue.push(office.make(0));
  EXPECT_EQ(office.queue.begin_sleep(0), Rest::none);
  office.queue.pop();
  office.queue.push(office.make(0), int_priority(0), PriorityQueue::Place::lifo);
  EXPECT_EQ(office.queue.begin_sleep(0), Rest::none);
  EXPECT_EQ(office.queue.push(office.make(1)), kNobody) << "who did not fall asleep is not woken";
}

TEST(TaskProcessQueue, who_rises_by_itself_is_not_chosen) {
  Office office;
  EXPECT_EQ(office.queue.begin_sleep(2), Rest::sleep);
  office.queue.end_sleep(2);
  EXPECT_EQ(office.queue.push(office.make(0)), kNobody);
}

// Three PEs. Whoever is awake is looked after, and nobody is woken for nothing.
TEST(TaskProcessQueue, one_sleeper_watches_while_another_pe_is_awake) {
  ProcessQueue queue(3, true);
  EXPECT_EQ(queue.begin_sleep(0), Rest::watch) << "1 and 2 are awake";
  EXPECT_EQ(queue.begin_sleep(1), Rest::sleep) << "0 watches";
  EXPECT_TRUE(queue.end_sleep(0).watches);
  EXPECT_EQ(queue.begin_sleep(0), Rest::watch) << "2 is awake";
  EXPECT_EQ(queue.begin_sleep(2), Rest::sleep);
  EXPECT_EQ(queue.end_sleep(0).to_wake, kNobody) << "it watches itself";
  EXPECT_EQ(queue.begin_sleep(0), Rest::sleep) << "nobody is awake";
  const ProcessQueue::Risen risen = queue.end_sleep(2);
  EXPECT_EQ(risen.to_wake, 0u) << "who has slept for the shortest time watches";
  EXPECT_FALSE(risen.watches);
  EXPECT_TRUE(queue.end_sleep(0).watches);
  EXPECT_EQ(queue.end_watch(), 1u) << "0 has a task, so 1 watches both";
}

TEST(TaskProcessQueue, who_serves_its_lane_itself_needs_no_watch) {
  ProcessQueue queue(2, true);
  queue.begin_serving();
  EXPECT_EQ(queue.begin_sleep(0), Rest::sleep);
  EXPECT_EQ(queue.end_serving(), 0u);
  EXPECT_TRUE(queue.end_sleep(0).watches);
  EXPECT_EQ(queue.begin_sleep(0), Rest::watch);
}

}  // namespace
}  // namespace photon::task
