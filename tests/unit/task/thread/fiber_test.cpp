#include "task/thread/fiber.hpp"

#include <gtest/gtest.h>

#include <cfenv>
#include <stdexcept>
#include <string>
#include <vector>

namespace photon::task::test {
namespace {

constexpr std::size_t kFiberBytes = std::size_t{64} << 10;

struct FiberRun {
  std::vector<int> steps;
  int rounding = 0;
};

void counts_steps(Fiber& self, void* argument) {
  auto& run = *static_cast<FiberRun*>(argument);
  for (int step = 1; step <= 3; ++step) {
    run.steps.push_back(step);
    self.leave();
  }
  self.finish();
}

TEST(TaskFiber, goes_on_where_it_has_left) {
  std::vector<std::byte> stack(kFiberBytes);
  FiberRun run;
  Fiber fiber(stack.data(), stack.data() + kFiberBytes, counts_steps, &run);
  EXPECT_TRUE(run.steps.empty()) << "it begins when it is entered";
  for (int step = 1; step <= 3; ++step) {
    fiber.enter(exception_state());
    EXPECT_EQ(run.steps.size(), static_cast<std::size_t>(step));
  }
  fiber.enter(exception_state());  // it finishes
  EXPECT_EQ(run.steps, (std::vector<int>{1, 2, 3}));
}

struct Passing {
  Fiber* next = nullptr;
  int rounding = 0;
  std::vector<std::string> steps;
};

// Has a rounding mode of its own, is inside a catch block when it passes on, and throws what it has
// caught once more when it goes on.
void passes_on(Fiber& self, void* argument) {
  auto& passing = *static_cast<Passing*>(argument);
  std::fesetround(FE_UPWARD);
  try {
    try {
      throw std::runtime_error("of the first");
    } catch (const std::exception&) {
      passing.steps.emplace_back("passes on");
      self.pass(*passing.next, exception_state());
      passing.rounding = std::fegetround();
      throw;
    }
  } catch (const std::exception& error) {
    passing.steps.emplace_back(error.what());
  }
  self.finish();
}

void leaves_twice(Fiber& self, void* argument) {
  auto& steps = static_cast<Passing*>(argument)->steps;
  self.leave();
  try {
    throw std::runtime_error("of the second");
  } catch (const std::exception& error) {
    steps.emplace_back(error.what());
    self.leave();
  }
  self.finish();
}

TEST(TaskFiber, passes_on_to_another_one_and_whoever_leaves_comes_back) {
  std::vector<std::byte> stacks(2 * kFiberBytes);
  std::byte* middle = stacks.data() + kFiberBytes;
  const int before = std::fegetround();
  Passing passing;
  Fiber second(middle, middle + kFiberBytes, leaves_twice, &passing);
  Fiber first(stacks.data(), middle, passes_on, &passing);
  passing.next = &second;
  second.enter(exception_state());  // it begins
  try {
    try {
      throw std::runtime_error("of the caller");
    } catch (const std::exception&) {
      first.enter(exception_state());
      EXPECT_EQ(passing.steps, (std::vector<std::string>{"passes on", "of the second"}));
      EXPECT_EQ(std::fegetround(), before);
      first.enter(exception_state());  // both have left: it goes on, and finishes
      second.enter(exception_state());
      throw;
    }
  } catch (const std::exception& error) {
    passing.steps.emplace_back(error.what());
  }
  EXPECT_EQ(passing.steps, (std::vector<std::string>{"passes on", "of the second", "of the first",
                                                     "of the caller"}));
  EXPECT_EQ(passing.rounding, FE_UPWARD);
}

void reads_rounding(Fiber& self, void* argument) {
  static_cast<FiberRun*>(argument)->rounding = std::fegetround();
  std::fesetround(FE_DOWNWARD);
  self.finish();
}

TEST(TaskFiber, begins_with_the_rounding_mode_of_its_maker_and_changes_its_own_alone) {
  std::vector<std::byte> stack(kFiberBytes);
  FiberRun run;
  const int before = std::fegetround();
  std::fesetround(FE_UPWARD);
  Fiber fiber(stack.data(), stack.data() + kFiberBytes, reads_rounding, &run);
  std::fesetround(before);
  fiber.enter(exception_state());
  EXPECT_EQ(run.rounding, FE_UPWARD);
  EXPECT_EQ(std::fegetround(), before);
}

// Both are inside a catch block when they change, and each throws its own one again.
void leaves_in_catch_block(Fiber& self, void* argument) {
  auto& text = *static_cast<std::string*>(argument);
  try {
    try {
      throw std::runtime_error("of the fiber");
    } catch (const std::exception&) {
      self.leave();
      throw;
    }
  } catch (const std::exception& error) {
    text = error.what();
  }
  self.finish();
}

TEST(TaskFiber, keeps_the_exceptions_that_are_caught) {
  std::vector<std::byte> stack(kFiberBytes);
  std::string inside;
  std::string outside;
  Fiber fiber(stack.data(), stack.data() + kFiberBytes, leaves_in_catch_block, &inside);
  try {
    try {
      throw std::runtime_error("of the caller");
    } catch (const std::exception&) {
      fiber.enter(exception_state());
      throw;
    }
  } catch (const std::exception& error) {
    outside = error.what();
  }
  fiber.enter(exception_state());
  EXPECT_EQ(inside, "of the fiber");
  EXPECT_EQ(outside, "of the caller");
}

}  // namespace
}  // namespace photon::task::test
