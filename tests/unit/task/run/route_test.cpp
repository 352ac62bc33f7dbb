#include "task/run/route.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace photon::task {
namespace {

// All that is reached from the root, and by whom.
void expect_each_once(const Route& route, std::vector<std::uint32_t> expected) {
  std::vector<std::uint64_t> places = {0};
  std::vector<std::uint32_t> reached = {route.at(0)};
  for (std::size_t i = 0; i < places.size(); ++i) {
    ASSERT_EQ(route.place_of(reached[i]), places[i]);
    const Children children = route.children_of(places[i]);
    ASSERT_LE(children.count, 4u);
    for (std::uint32_t child = 0; child < children.count; ++child) {
      places.push_back(children.first + child);
      reached.push_back(route.at(children.first + child));
      EXPECT_TRUE(Route::is_above(places[i], places.back()));
      EXPECT_TRUE(Route::is_above(0, places.back()));
      EXPECT_FALSE(Route::is_above(places.back(), places[i]));
    }
    ASSERT_LE(reached.size(), expected.size());
  }
  std::ranges::sort(reached);
  ASSERT_EQ(reached, expected);
}

TEST(TaskRoute, a_tree_reaches_every_process_once_from_every_root) {
  for (std::uint32_t processes = 1; processes <= 40; ++processes) {
    std::vector<std::uint32_t> all(processes);
    std::iota(all.begin(), all.end(), 0u);
    for (std::uint32_t root = 0; root < processes; ++root)
      expect_each_once(Route(root, processes), all);
  }
}

TEST(TaskRoute, a_list_reaches_its_processes_and_the_root_once) {
  for (std::uint32_t count = 0; count <= 40; ++count) {
    std::vector<std::uint32_t> listed;
    for (std::uint32_t i = 0; i < count; ++i) listed.push_back(3 * i + 1);
    std::vector<std::uint32_t> all = listed;
    constexpr std::uint32_t kRoot = 9;
    all.push_back(kRoot);
    std::ranges::sort(all);
    expect_each_once(Route(kRoot, std::span<const std::uint32_t>(listed)), all);
    EXPECT_EQ(Route(kRoot, std::span<const std::uint32_t>(listed)).place_of(5), std::nullopt);
  }
}

TEST(TaskRoute, a_sibling_is_not_above) {
  EXPECT_FALSE(Route::is_above(1, 2));
  EXPECT_FALSE(Route::is_above(2, 5));  // a child of place 1
  EXPECT_TRUE(Route::is_above(1, 5));
  EXPECT_EQ(Route(3, 7).place_of(7), std::nullopt);
}

}  // namespace
}  // namespace photon::task
