#include "cores.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <thread>

namespace photonrun {
namespace {

TEST(Cores, are_listed_in_order_and_once) {
  const std::vector<int> cores = usable_cores();
  ASSERT_FALSE(cores.empty());
  EXPECT_GE(cores.front(), 0);
  EXPECT_TRUE(std::ranges::is_sorted(cores, std::less_equal()));
}

// In a thread of its own: the mask is the thread's.
TEST(Cores, are_one_for_who_is_pinned_to_it) {
  const std::vector<int> before = usable_cores();
  std::vector<int> after;
  bool is_pinned = false;
  bool is_none_pinned = true;
  std::thread([&] {
    is_pinned = pin_to(before.back());
    after = usable_cores();
    is_none_pinned = pin_to(8191);  // no machine has as many
  }).join();
  EXPECT_TRUE(is_pinned);
  EXPECT_EQ(after, std::vector<int>{before.back()});
  EXPECT_FALSE(is_none_pinned);
  EXPECT_EQ(usable_cores(), before);
}

}  // namespace
}  // namespace photonrun
