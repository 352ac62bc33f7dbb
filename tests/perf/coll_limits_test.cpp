// What photon-perf's collective operations and their limits stand on: the kinds, and the fold.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "coll_kinds.hpp"
#include "failure.hpp"
#include "limit_fold.hpp"

namespace photon::perf {
namespace {

TEST(PerfFold, adds_all_elements_and_writes_no_other_ones) {
  for (const std::size_t count : {0, 1, 7, 8, 9, 64, 65, 1000}) {
    for (const std::size_t past : {0, 1}) {
      std::vector<double> left(count + past);
      std::vector<double> right(count + past);
      std::vector<double> out(count + past + 8, -1);
      for (std::size_t i = 0; i < count + past; ++i) {
        left[i] = static_cast<double>(i);
        right[i] = static_cast<double>(1000 * i);
      }
      widest_add()(out.data() + past, left.data() + past, right.data() + past, count);
      for (std::size_t i = 0; i < out.size(); ++i) {
        const bool is_sum = i >= past && i < count + past;
        EXPECT_EQ(out[i], is_sum ? 1001.0 * static_cast<double>(i) : -1) << count << " at " << i;
      }
    }
  }
}

TEST(PerfFold, may_write_over_one_of_its_operands) {
  std::vector<double> sums(100, 2);
  const std::vector<double> more(100, 3);
  widest_add()(sums.data(), sums.data(), more.data(), sums.size());
  EXPECT_EQ(sums, std::vector<double>(100, 5));
}

TEST(PerfCollKinds, are_those_of_the_library_once_each) {
  std::set<int> values;
  std::set<std::string_view> names;
  for (const auto& kind : coll_kinds()) {
    values.insert(kind.kind);
    names.insert(kind.name);
    EXPECT_EQ(find_coll_kind(kind.name), &kind);
  }
  EXPECT_EQ(values.size(), 16u);
  EXPECT_EQ(names.size(), 16u);
  EXPECT_EQ(*values.begin(), PH_COLL_BARRIER);
  EXPECT_EQ(*values.rbegin(), PH_COLL_REDUCE_SCATTER);
}

TEST(PerfCollKinds, say_at_which_members_a_buffer_is_one) {
  EXPECT_EQ(find_coll_kind("scatter")->in.blocks_at(0, 5), 5u);
  EXPECT_EQ(find_coll_kind("scatter")->in.blocks_at(1, 5), 0u);
  EXPECT_EQ(find_coll_kind("scatter")->out.blocks_at(1, 5), 1u);
  EXPECT_EQ(find_coll_kind("bcast")->out.blocks_at(0, 5), 0u);
  EXPECT_EQ(find_coll_kind("bcast")->out.blocks_at(4, 5), 1u);
  EXPECT_EQ(find_coll_kind("barrier")->in.blocks_at(0, 5), 0u);
}

TEST(PerfCollKinds, are_read_from_a_list_without_gaps) {
  const auto kinds = parse_coll_kinds("bcast,scan");
  ASSERT_EQ(kinds.size(), 2u);
  EXPECT_EQ(kinds[0]->kind, PH_COLL_BCAST);
  EXPECT_EQ(kinds[1]->kind, PH_COLL_SCAN);
  for (const char* const text : {"", "bcast,", ",bcast", "Bcast", "bcast scan"})
    EXPECT_THROW(parse_coll_kinds(text), Failure) << text;
}

}  // namespace
}  // namespace photon::perf
