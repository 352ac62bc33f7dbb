#include "task/queue/priority_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <list>
#include <random>
#include <vector>

#include "task/pool/pool.hpp"

namespace photon::task {
namespace {

using Place = PriorityQueue::Place;

struct Queue {
  Message& push(const Priority& priority, Place place) {
    Message& message = *pool.alloc(8);
    queue.push(message, priority, place);
    return message;
  }
  Returns returns{1};
  Pool pool{0, heap_memory(), returns, 0};
  PriorityQueue queue;
};

Priority of_int(std::int32_t value) { return *priority_of(PriorityKind::number, 32, &value); }

TEST(TaskQueue, LifoBeforeEqualsFifoBehind) {
  Queue one;
  Message& second = one.push(of_int(5), Place::fifo);
  Message& third = one.push(of_int(5), Place::fifo);
  Message& first = one.push(of_int(5), Place::lifo);
  Message& zeroth = one.push(of_int(5), Place::lifo);
  Message& better = one.push(of_int(4), Place::fifo);
  Message& worse = one.push(of_int(6), Place::lifo);
  for (Message* expected : {&better, &zeroth, &first, &second, &third, &worse}) {
    ASSERT_FALSE(one.queue.empty());
    EXPECT_EQ(&one.queue.pop(), expected);
  }
  EXPECT_TRUE(one.queue.empty());
}

TEST(TaskQueue, the_least_and_the_greatest_priorities_are_none_like_others) {
  Queue one;
  const std::vector<std::uint32_t> ones(8, 0xffffffffU);
  Message& last = one.push(*priority_of(PriorityKind::bit_vector, 256, ones.data()), Place::fifo);
  Message& before = one.push(*priority_of(PriorityKind::bit_vector, 64, ones.data()), Place::fifo);
  Message& first = one.push(*priority_of(PriorityKind::bit_vector, 0, nullptr), Place::fifo);
  EXPECT_EQ(one.queue.first().bits, 0u);
  for (Message* expected : {&first, &before, &last}) EXPECT_EQ(&one.queue.pop(), expected);
}

// Beside a list that is searched from its front.
TEST(TaskQueue, random_operations_agree_with_a_sorted_list) {
  Queue one;
  std::mt19937 random(7);
  const auto draw = [&](std::uint32_t below) {
    return static_cast<std::uint32_t>(random() % below);
  };
  struct Known {
    Priority priority;
    Message* message;
  };
  std::list<Known> sorted;
  std::deque<std::vector<std::uint32_t>> words;  // stay where they are
  for (int step = 0; step < 30000; ++step) {
    const bool grows = step % 10000 < 5000;
    if (draw(3) < (grows ? 2U : 1U) && sorted.size() < 700) {
      words.push_back({draw(3) << 30, draw(2), draw(2) << 31, draw(2) << 31});
      const std::uint32_t bits = draw(129);
      const Priority priority = *priority_of(PriorityKind::bit_vector, bits, words.back().data());
      const Place place = draw(2) == 0 ? Place::fifo : Place::lifo;
      Message& message = one.push(priority, place);
      const auto at = std::find_if(sorted.begin(), sorted.end(), [&](const Known& known) {
        return place == Place::fifo ? priority < known.priority : !(known.priority < priority);
      });
      sorted.insert(at, {priority, &message});
    } else if (!sorted.empty()) {
      Message& message = one.queue.pop();
      ASSERT_EQ(&message, sorted.front().message) << "step " << step;
      sorted.pop_front();
      ASSERT_EQ(one.pool.free(message), Pool::Freed::over);
    }
    ASSERT_EQ(one.queue.size(), sorted.size());
  }
}

}  // namespace
}  // namespace photon::task
