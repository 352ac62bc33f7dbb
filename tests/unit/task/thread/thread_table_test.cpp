#include "task/thread/thread_table.hpp"

#include <gtest/gtest.h>

namespace photon::task::test {
namespace {

Thread* some_thread() { return reinterpret_cast<Thread*>(&some_thread); }

TEST(TaskThreadTable, a_handle_of_a_thread_that_is_over_names_nobody) {
  ThreadTable table;
  const std::uint32_t number = table.take();
  const std::uint32_t generation = table.generation(number);
  table.set(number, some_thread());
  EXPECT_EQ(table.find(number, generation), some_thread());
  EXPECT_FALSE(table.was(number, generation));
  EXPECT_FALSE(table.was(number, 0)) << "a handle of zeros";
  EXPECT_EQ(table.used(), 1u);
  table.give(number);
  EXPECT_EQ(table.find(number, generation), nullptr);
  EXPECT_TRUE(table.was(number, generation));
  EXPECT_FALSE(table.was(number, generation + 1));
  EXPECT_FALSE(table.was(number + 1, 1));
  EXPECT_EQ(table.used(), 0u);
  EXPECT_EQ(table.take(), number) << "it is used again";
  EXPECT_NE(table.generation(number), generation);
}

TEST(TaskThreadTable, a_number_whose_generation_would_wrap_is_not_used_again) {
  ThreadTable table;
  const std::uint32_t number = table.take();
  table.age(number, ThreadTable::kLastGeneration);
  table.set(number, some_thread());
  EXPECT_EQ(table.find(number, ThreadTable::kLastGeneration), some_thread());
  table.give(number);
  EXPECT_EQ(table.find(number, ThreadTable::kLastGeneration), nullptr);
  EXPECT_TRUE(table.was(number, 1));
  EXPECT_TRUE(table.was(number, ThreadTable::kLastGeneration));
  EXPECT_FALSE(table.was(number, 0));
  EXPECT_NE(table.take(), number);
}

}  // namespace
}  // namespace photon::task::test
