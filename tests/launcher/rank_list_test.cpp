#include "rank_list.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace photonrun {
namespace {

TEST(RankList, draws_together_ranks_that_follow_each_other) {
  const auto text = [](const std::vector<unsigned>& ranks) { return list_ranks(ranks); };
  EXPECT_EQ(text({3}), "rank 3");
  EXPECT_EQ(text({0, 1}), "ranks 0-1");
  EXPECT_EQ(text({0, 2, 3, 4, 9}), "ranks 0, 2-4, 9");
  EXPECT_EQ(text({5, 7}), "ranks 5, 7");
}

}  // namespace
}  // namespace photonrun
