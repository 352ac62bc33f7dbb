// Queues that grow, and are trimmed; arrays that are zero until they are written.
#include "base/ring_queue.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <deque>
#include <random>
#include <vector>

#include "base/zero_array.hpp"

namespace photon::base {
namespace {

TEST(RingQueue, is_a_queue_whatever_is_pushed_popped_and_trimmed) {
  RingQueue<std::uint64_t> queue;
  std::deque<std::uint64_t> model;
  std::mt19937_64 random(5);
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const bool is_filling = i / 500 % 2 == 0;
    if (random() % 8 < (is_filling ? 5u : 3u)) {
      queue.push(i);
      model.push_back(i);
    } else if (!model.empty()) {
      ASSERT_EQ(queue.front(), model.front());
      queue.pop();
      model.pop_front();
      queue.trim();
    }
    ASSERT_EQ(queue.size(), model.size());
    ASSERT_EQ(queue.end() - queue.begin(), model.size());
    for (std::size_t at = 0; at < model.size(); ++at)
      ASSERT_EQ(queue.at(queue.begin() + at), model[at]);
    ASSERT_TRUE(model.empty() || queue.back() == model.back());
  }
}

TEST(RingQueue, an_element_of_its_own_can_be_pushed) {
  RingQueue<std::uint64_t> queue;
  for (std::uint64_t i = 1; i <= 8; ++i) queue.push(i);
  ASSERT_TRUE(queue.full());
  queue.push(queue.front());
  EXPECT_EQ(queue.back(), 1u);
}

TEST(RingQueue, only_an_empty_long_one_gives_its_memory_back) {
  RingQueue<int> queue;
  for (int i = 0; i < 100; ++i) queue.push(i);
  queue.trim();
  EXPECT_EQ(queue.front(), 0);
  EXPECT_FALSE(queue.full()) << "128 have room";
  queue.clear();
  queue.trim();
  EXPECT_TRUE(queue.full()) << "no room is left";
  for (int i = 0; i < 5; ++i) queue.push(i);
  queue.clear();
  queue.trim();
  EXPECT_FALSE(queue.full()) << "a short one keeps its memory";
}

std::size_t pages_of(const void* at, std::size_t pages) {
  std::vector<unsigned char> there(pages);
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  EXPECT_EQ(::mincore(const_cast<void*>(at), pages * page, there.data()), 0);
  std::size_t count = 0;
  for (const unsigned char one : there) count += one & 1;
  return count;
}

TEST(ZeroArray, costs_the_pages_that_were_written) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  ZeroArray<std::uint64_t> array(4 * page / sizeof(std::uint64_t));
  ASSERT_TRUE(array);
  EXPECT_EQ(pages_of(&array[0], 4), 0u);
  array[2 * page / sizeof(std::uint64_t)] = 7;
  EXPECT_EQ(pages_of(&array[0], 4), 1u);
  for (std::size_t i = 0; i < 4 * page / sizeof(std::uint64_t); ++i)
    ASSERT_EQ(array[i], i == 2 * page / sizeof(std::uint64_t) ? 7u : 0u);
}

TEST(ZeroArray, is_moved_and_ended_once) {
  ZeroArray<int> none;
  EXPECT_FALSE(none);
  ZeroArray<int> first(10);
  first[3] = 3;
  ZeroArray<int> second(std::move(first));
  EXPECT_EQ(second[3], 3);
  none = std::move(second);
  ASSERT_TRUE(none);
  EXPECT_EQ(none[3], 3);
  none.reset();
  EXPECT_FALSE(none);
  none.reset();
}

}  // namespace
}  // namespace photon::base
