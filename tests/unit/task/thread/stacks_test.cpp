#include "task/thread/stacks.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <vector>

namespace photon::task::test {
namespace {

constexpr std::size_t kStackBytes = std::size_t{64} << 10;
constexpr std::uint64_t kUsualMappings = 65530;

TEST(TaskStacks, have_the_bytes_that_were_asked_for_and_can_be_written_to_their_last_one) {
  StackLimit limit(kUsualMappings);
  for (StackLimit* guarded : {&limit, static_cast<StackLimit*>(nullptr)}) {
    Stacks stacks(guarded);
    for (const std::size_t bytes : {std::size_t{16} << 10, kStackBytes, std::size_t{3} << 20}) {
      Stack* stack = stacks.take(bytes, 1);
      ASSERT_NE(stack, nullptr);
      const std::size_t room =
          static_cast<std::size_t>(reinterpret_cast<std::byte*>(stack) - stack->bottom);
      EXPECT_GE(room, bytes);
      std::memset(stack->bottom, 1, room);
      stacks.give(*stack);
    }
  }
}

TEST(TaskStacks, the_one_that_came_back_last_is_taken_first) {
  StackLimit limit(kUsualMappings);
  Stacks stacks(&limit);
  Stack* one = stacks.take(kStackBytes, 1);
  Stack* other = stacks.take(kStackBytes, 2);
  ASSERT_NE(other, nullptr);
  stacks.give(*one);
  stacks.give(*other);
  EXPECT_EQ(stacks.take(kStackBytes, 3), other);
  EXPECT_EQ(stacks.take(kStackBytes, 4), one);
  EXPECT_EQ(stacks.made(), 2u);
}

// Else the upper ends of all stacks would fall into the same few sets of a cache.
TEST(TaskStacks, neighbours_end_at_different_lines_of_a_page) {
  StackLimit limit(kUsualMappings);
  Stacks stacks(&limit);
  std::set<std::uintptr_t> lines;
  for (std::uint32_t i = 0; i < 32; ++i)
    lines.insert(reinterpret_cast<std::uintptr_t>(stacks.take(kStackBytes, i)) % 4096);
  EXPECT_EQ(lines.size(), 32u);
}

TEST(TaskStacks, a_guard_names_the_owner_of_the_stack_above_it) {
  StackLimit limit(kUsualMappings);
  Stacks stacks(&limit);
  std::vector<Stack*> taken;
  for (std::uint32_t i = 0; i < 100; ++i) taken.push_back(stacks.take(kStackBytes, 1000 + i));
  std::uint32_t owner = 0;
  std::size_t bytes = 0;
  for (std::uint32_t i = 0; i < 100; ++i) {
    EXPECT_TRUE(stacks.find_guard(taken[i]->bottom - 1, owner, bytes));
    EXPECT_EQ(owner, 1000 + i);
    EXPECT_TRUE(stacks.find_guard(taken[i]->bottom - 4096, owner, bytes));
    EXPECT_EQ(owner, 1000 + i);
    EXPECT_FALSE(stacks.find_guard(taken[i]->bottom, owner, bytes));
  }
  EXPECT_GE(bytes, kStackBytes);
  EXPECT_FALSE(stacks.find_guard(&owner, owner, bytes));
  EXPECT_FALSE(stacks.find_guard(nullptr, owner, bytes));
}

// The rest of the program needs mappings as well, also when a process has all stacks it may have.
TEST(TaskStacks, there_are_no_more_than_the_limit_leaves_room_for) {
  StackLimit limit(StackLimit::kLeftMappings + 2 * 10 + 1);
  {
    Stacks stacks(&limit);
    Stacks siblings(&limit);
    for (std::uint32_t i = 0; i < 5; ++i) {
      EXPECT_NE(stacks.take(kStackBytes, i), nullptr);
      EXPECT_NE(siblings.take(kStackBytes, i), nullptr);
    }
    EXPECT_EQ(stacks.take(kStackBytes, 0), nullptr);
    EXPECT_EQ(siblings.take(kStackBytes, 0), nullptr);
    EXPECT_EQ(limit.stacks(), 10u);
    Stacks unguarded(nullptr);
    EXPECT_NE(unguarded.take(kStackBytes, 0), nullptr) << "they take no mappings of their own";
  }
  EXPECT_EQ(limit.stacks(), 0u);
}

// The word below a stack watches those, and the guards of the others stay theirs.
TEST(TaskStacks, beyond_the_limit_there_are_stacks_without_a_guard_where_that_is_asked_for) {
  StackLimit limit(StackLimit::kLeftMappings + 2 * 3 + 1);
  {
    Stacks stacks(&limit, true);
    std::vector<Stack*> taken;
    for (std::uint32_t i = 0; i < 100; ++i) {
      taken.push_back(stacks.take(kStackBytes, i));
      ASSERT_NE(taken.back(), nullptr);
      EXPECT_EQ(taken.back()->slab->guard_bytes != 0, i < 3) << i;
      EXPECT_FALSE(stacks.was_limited());
    }
    EXPECT_EQ(limit.stacks(), 3u);
    EXPECT_EQ(stacks.made(), 100u);
    std::uint32_t owner = 0;
    std::size_t bytes = 0;
    for (std::uint32_t i = 0; i < 100; ++i)
      EXPECT_EQ(stacks.find_guard(taken[i]->bottom - 1, owner, bytes), i < 3) << i;
    std::memset(taken[50]->bottom - 1, 1, 1);
    for (std::uint32_t i = 3; i < 100; ++i)
      EXPECT_EQ(Stacks::has_overflowed(taken[i]->bottom), i == 50) << i;
  }
  EXPECT_EQ(limit.stacks(), 0u);
}

TEST(TaskStacks, the_limit_is_that_of_the_kernel) {
  EXPECT_GT(StackLimit::mappings_of_kernel(), StackLimit::kLeftMappings);
}

// All bytes of a stack are its own, and the first one below it is not.
TEST(TaskStacks, without_guards_the_word_below_a_stack_tells_of_an_overflow) {
  Stacks stacks(nullptr);
  std::vector<Stack*> taken;
  for (std::uint32_t i = 0; i < 100; ++i) taken.push_back(stacks.take(kStackBytes, i));
  for (Stack* stack : taken)
    std::memset(stack->bottom, 1,
                static_cast<std::size_t>(reinterpret_cast<std::byte*>(stack) - stack->bottom));
  for (const Stack* stack : taken) EXPECT_FALSE(Stacks::has_overflowed(stack->bottom));
  for (std::uint32_t i = 0; i < 100; ++i) {
    std::memset(taken[i]->bottom - 1, 1, 1);
    for (std::uint32_t other = 0; other < 100; ++other)
      EXPECT_EQ(Stacks::has_overflowed(taken[other]->bottom), other == i) << i;
    stacks.give(*taken[i]);
    EXPECT_EQ(stacks.take(kStackBytes, i), taken[i]) << "the word is set again";
  }
}

TEST(TaskStacks, say_whether_the_limit_or_the_kernel_has_refused_one) {
  StackLimit limit(StackLimit::kLeftMappings + 2);
  Stacks stacks(&limit);
  constexpr std::size_t kTooMany = std::size_t{1} << 47;  // more than a process has addresses
  EXPECT_EQ(stacks.take(kTooMany, 0), nullptr);
  EXPECT_FALSE(stacks.was_limited());
  EXPECT_NE(stacks.take(kStackBytes, 0), nullptr);
  EXPECT_EQ(stacks.take(kStackBytes, 0), nullptr);
  EXPECT_TRUE(stacks.was_limited());
  EXPECT_EQ(stacks.take(kTooMany, 0), nullptr);
  EXPECT_FALSE(stacks.was_limited());
}

}  // namespace
}  // namespace photon::task::test
