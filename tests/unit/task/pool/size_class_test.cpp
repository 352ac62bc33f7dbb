#include "task/pool/size_class.hpp"

#include <gtest/gtest.h>

namespace photon::task {
namespace {

TEST(TaskSizeClass, each_size_has_the_smallest_class_that_holds_it) {
  for (std::uint64_t bytes = 1; bytes <= 70000; ++bytes) {
    const unsigned size_class = SizeClass::class_of(bytes);
    ASSERT_GE(SizeClass::size_of(size_class), bytes);
    if (size_class != 0) {
      ASSERT_LT(SizeClass::size_of(size_class - 1), bytes);
    }
  }
}

TEST(TaskSizeClass, sizes_are_lines_grow_by_a_quarter_at_most_and_find_themselves) {
  EXPECT_EQ(SizeClass::size_of(0), SizeClass::kLeastBytes);
  EXPECT_EQ(SizeClass::size_of(SizeClass::kCount - 1), SizeClass::kMostBytes);
  for (unsigned size_class = 0; size_class < SizeClass::kCount; ++size_class) {
    const std::uint64_t bytes = SizeClass::size_of(size_class);
    ASSERT_EQ(bytes % 64, 0u);
    ASSERT_EQ(SizeClass::class_of(bytes), size_class);
    if (bytes > 256) {
      ASSERT_LE(bytes, SizeClass::size_of(size_class - 1) * 5 / 4);
    }
  }
}

TEST(TaskSizeClass, within_is_the_largest_that_fits) {
  for (std::uint64_t bytes = SizeClass::kLeastBytes; bytes < 40000; ++bytes) {
    const unsigned size_class = SizeClass::within(bytes);
    ASSERT_LE(SizeClass::size_of(size_class), bytes);
    ASSERT_GT(SizeClass::size_of(size_class + 1), bytes);
  }
}

}  // namespace
}  // namespace photon::task
