#include "task/run/groups.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace photon::task {
namespace {

constexpr JobShape kShape{4, 2};  // PEs 0 to 7
using Numbers = std::vector<std::uint32_t>;

Numbers of(std::span<const std::uint32_t> span) { return {span.begin(), span.end()}; }

TEST(TaskGroups, a_list_is_sorted_and_its_processes_lack_the_maker) {
  Groups groups;
  const Numbers pes = {7, 0, 3, 6, 2};
  const auto number = groups.make(pes, kShape, 3);  // of process 1
  ASSERT_TRUE(number);
  const Groups::Group* group = groups.find({3, *number});
  ASSERT_NE(group, nullptr);
  EXPECT_EQ(of(group->roster().pes), (Numbers{0, 2, 3, 6, 7}));
  EXPECT_EQ(of(group->roster().processes), (Numbers{0, 3}));
  EXPECT_TRUE(is_sound(group->roster(), kShape, 1));
  EXPECT_EQ(groups.find({2, *number}), nullptr) << "the number is that PE's";
  EXPECT_EQ(groups.find({3, *number + 1}), nullptr);
}

TEST(TaskGroups, a_pe_that_stands_twice_is_refused) {
  Groups groups;
  EXPECT_EQ(groups.make(Numbers{1, 2, 1}, kShape, 0), std::nullopt);
  EXPECT_EQ(groups.make(Numbers{}, kShape, 0), 0u) << "the refused one has taken no number";
}

const Numbers kList = {0, 2, 3, 6, 7, 0, 3};  // PEs and, behind them, processes

Groups::Told take(Groups& groups, std::uint32_t first, std::uint32_t count) {
  return groups.take({2, 5}, {5, 2, first, std::span(kList).subspan(first, count)}, kShape);
}

TEST(TaskGroups, a_list_that_comes_in_pieces_is_known_when_all_are_there) {
  Groups groups;
  EXPECT_EQ(take(groups, 0, 3), Groups::Told::more);
  EXPECT_EQ(groups.find({2, 5}), nullptr);
  EXPECT_EQ(take(groups, 3, 3), Groups::Told::more);
  EXPECT_EQ(take(groups, 6, 1), Groups::Told::complete);
  ASSERT_NE(groups.find({2, 5}), nullptr);
  EXPECT_EQ(of(groups.find({2, 5})->roster().pes), (Numbers{0, 2, 3, 6, 7}));
  EXPECT_EQ(take(groups, 0, 3), Groups::Told::known);
}

// Whoever told it first has died in between, and its last pieces mingle with those of another one.
TEST(TaskGroups, pieces_from_two_sources_make_one_list) {
  Groups groups;
  EXPECT_EQ(take(groups, 0, 3), Groups::Told::more);
  EXPECT_EQ(take(groups, 0, 3), Groups::Told::more);  // of the other one
  EXPECT_EQ(take(groups, 3, 3), Groups::Told::more);
  EXPECT_EQ(take(groups, 3, 3), Groups::Told::more);
  EXPECT_EQ(take(groups, 6, 1), Groups::Told::complete);
  EXPECT_EQ(of(groups.find({2, 5})->roster().processes), (Numbers{0, 3}));
}

// Those of the other one begin when some of the first one's are there already.
TEST(TaskGroups, a_late_source_takes_nothing_from_what_is_there) {
  Groups groups;
  EXPECT_EQ(take(groups, 0, 2), Groups::Told::more);
  EXPECT_EQ(take(groups, 2, 2), Groups::Told::more);
  EXPECT_EQ(take(groups, 0, 2), Groups::Told::more) << "of the other one";
  EXPECT_EQ(take(groups, 4, 3), Groups::Told::complete);
  ASSERT_NE(groups.find({2, 5}), nullptr);
  EXPECT_EQ(of(groups.find({2, 5})->roster().pes), (Numbers{0, 2, 3, 6, 7}));
}

TEST(TaskGroups, a_piece_behind_a_gap_is_refused_alone) {
  Groups groups;
  EXPECT_EQ(take(groups, 0, 2), Groups::Told::more);
  EXPECT_EQ(take(groups, 4, 2), Groups::Told::nonsense);
  EXPECT_EQ(take(groups, 1, 4), Groups::Told::more) << "cut in another place";
  EXPECT_EQ(take(groups, 5, 2), Groups::Told::complete);
  EXPECT_EQ(of(groups.find({2, 5})->roster().processes), (Numbers{0, 3}));
}

// A peer may say anything.
TEST(TaskGroups, forged_pieces_make_no_group) {
  struct Forged {
    std::uint32_t pes, processes, first;
    Numbers numbers;
  };
  const std::vector<Forged> all = {
      {9, 0, 0, Numbers(9)},          // more PEs than the job has
      {1, 5, 0, {0, 0, 1, 2, 3, 4}},  // more processes
      {~0U, ~0U, 0, {0}},             // sums that wrap
      {2, 0, 0, {1, 2, 3}},           // more numbers than it says
      {2, 0, ~0U, {1, 2}},            //
      {2, 0, 1, {1}},                 // a piece without the first
      {2, 0, 0, {2, 1}},              // no order
      {2, 0, 0, {1, 1}},              // twice
      {1, 0, 0, {8}},                 // no such PE
      {1, 1, 0, {0, 4}},              // no such process
      {1, 1, 0, {0, 1}},              // the maker's own process among the others
      {1, 2, 0, {0, 3, 2}},
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    Groups groups;
    const Forged& one = all[i];
    EXPECT_EQ(groups.take({2, 5}, {one.pes, one.processes, one.first, one.numbers}, kShape),
              Groups::Told::nonsense)
        << i;
    EXPECT_EQ(groups.find({2, 5}), nullptr) << i;
  }
  Groups groups;  // another size in the second piece
  EXPECT_EQ(take(groups, 0, 3), Groups::Told::more);
  EXPECT_EQ(groups.take({2, 5}, {6, 2, 3, std::span(kList).subspan(3, 2)}, kShape),
            Groups::Told::nonsense);
  EXPECT_EQ(take(groups, 5, 1), Groups::Told::nonsense) << "the rest of it is worth nothing";
}

}  // namespace
}  // namespace photon::task
