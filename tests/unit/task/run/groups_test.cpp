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

// Of PE 2, so of process 1, on its way down to processes 0 and 3. This is process 3.
Groups::Told take(Groups& groups, std::uint32_t first, std::uint32_t count,
                  std::uint32_t from = 1) {
  return groups.take({2, 5}, {5, 2, first, std::span(kList).subspan(first, count)}, kShape,
                     {from, 3});
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

// Whoever told it first has died in between; the last pieces of both mingle.
TEST(TaskGroups, two_processes_that_tell_it_do_not_meet) {
  Groups groups;
  EXPECT_EQ(take(groups, 0, 3, 0), Groups::Told::more);
  EXPECT_EQ(take(groups, 0, 2), Groups::Told::more);
  EXPECT_EQ(take(groups, 3, 3, 0), Groups::Told::more);
  EXPECT_EQ(take(groups, 2, 4), Groups::Told::more);
  EXPECT_EQ(take(groups, 6, 1), Groups::Told::complete);
  EXPECT_EQ(of(groups.find({2, 5})->roster().processes), (Numbers{0, 3}));
  EXPECT_EQ(take(groups, 6, 1, 0), Groups::Told::known);
}

// A process that is not above has said all of it, or something else under the same name.
TEST(TaskGroups, is_told_by_a_process_above_alone) {
  Groups groups;
  EXPECT_EQ(take(groups, 0, 3), Groups::Told::more);
  for (const std::uint32_t from : {0U, 2U, 3U}) {
    EXPECT_EQ(take(groups, 0, 7, from), Groups::Told::nonsense) << from;
    EXPECT_EQ(groups.take({2, 5}, {1, 0, 0, Numbers{3}}, kShape, {from, 3}),
              Groups::Told::nonsense);
  }
  EXPECT_EQ(groups.find({2, 5}), nullptr);
  EXPECT_EQ(take(groups, 3, 4), Groups::Told::complete);
}

TEST(TaskGroups, a_process_begins_one_list_at_a_time) {
  Groups groups;
  EXPECT_EQ(take(groups, 0, 3), Groups::Told::more);
  EXPECT_EQ(take(groups, 4, 3), Groups::Told::nonsense) << "a piece is missing";
  EXPECT_EQ(groups.take({2, 6}, {5, 2, 0, std::span(kList).first(3)}, kShape, {1, 3}),
            Groups::Told::more);
  EXPECT_EQ(take(groups, 3, 4), Groups::Told::nonsense);
  EXPECT_EQ(take(groups, 0, 3), Groups::Told::more);
  EXPECT_EQ(take(groups, 0, 7), Groups::Told::complete);
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
    EXPECT_EQ(groups.take({2, 5}, {one.pes, one.processes, one.first, one.numbers}, kShape, {1, 3}),
              Groups::Told::nonsense)
        << i;
    EXPECT_EQ(groups.find({2, 5}), nullptr) << i;
  }
  Groups groups;  // another size in the second piece
  EXPECT_EQ(take(groups, 0, 3), Groups::Told::more);
  EXPECT_EQ(groups.take({2, 5}, {6, 2, 3, std::span(kList).subspan(3, 2)}, kShape, {1, 3}),
            Groups::Told::nonsense);
  EXPECT_EQ(take(groups, 5, 1), Groups::Told::nonsense) << "the rest of it is worth nothing";
}

}  // namespace
}  // namespace photon::task
