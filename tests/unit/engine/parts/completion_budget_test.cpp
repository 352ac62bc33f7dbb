#include "engine/parts/completion_budget.hpp"

#include <gtest/gtest.h>

namespace photon::engine::test {
namespace {

constexpr std::uint64_t kRequests = 8;

class CompletionBudgetTest : public testing::Test {
 protected:
  void wait_for_probe(std::uint64_t count) {
    for (std::uint64_t id = 0; id < count; ++id) {
      budget_.promise();
      peer_.local.push({id, 8, PH_OK});
    }
  }
  // As pop_local() does.
  void hand_out() {
    ASSERT_EQ(budget_.run().next(), &peer_);
    peer_.local.pop();
  }

  Peer peer_;
  CompletionBudget budget_{kRequests};
};

TEST_F(CompletionBudgetTest, what_is_promised_is_not_free_until_it_is_released) {
  for (std::uint64_t left = kRequests; left > 0; --left) {
    EXPECT_TRUE(budget_.has_any());
    EXPECT_EQ(budget_.free(), static_cast<std::int64_t>(left));
    budget_.promise();
  }
  EXPECT_FALSE(budget_.has_any());
  budget_.release();
  EXPECT_TRUE(budget_.has_any());
  EXPECT_EQ(budget_.free(), 1);
}

TEST_F(CompletionBudgetTest, a_report_beyond_it_is_owed_before_one_is_free_again) {
  for (std::uint64_t i = 0; i <= kRequests; ++i) budget_.promise();
  EXPECT_EQ(budget_.free(), -1);
  EXPECT_EQ(budget_.share(), 0u);
  budget_.release();
  EXPECT_FALSE(budget_.has_any());
  budget_.release();
  EXPECT_TRUE(budget_.has_any());
}

TEST_F(CompletionBudgetTest, a_credit_grant_gets_half_of_it_and_the_last_one_too) {
  const std::uint64_t shares[] = {4, 2, 1, 1, 0};
  for (const std::uint64_t share : shares) {
    EXPECT_EQ(budget_.share(), share);
    budget_.lend(share);
  }
  EXPECT_FALSE(budget_.has_any());
  budget_.give_back(3);
  EXPECT_EQ(budget_.free(), 3);
}

TEST_F(CompletionBudgetTest, what_a_run_hands_out_is_free_when_it_is_counted_and_once_alone) {
  wait_for_probe(5);
  budget_.begin_run(peer_, 4);
  hand_out();
  hand_out();
  EXPECT_EQ(budget_.free(), 5);
  EXPECT_EQ(budget_.free(), 5) << "counted twice";
  hand_out();
  EXPECT_EQ(budget_.run().left(), 1u);
  budget_.end_run();
  EXPECT_EQ(budget_.free(), 6);
  EXPECT_EQ(budget_.run().next(), nullptr);
}

TEST_F(CompletionBudgetTest, credit_is_granted_what_a_run_has_handed_out) {
  wait_for_probe(kRequests);
  budget_.begin_run(peer_, kRequests - 1);
  EXPECT_EQ(budget_.share(), 0u);
  for (int i = 0; i < 4; ++i) hand_out();
  EXPECT_EQ(budget_.share(), 2u);
}

}  // namespace
}  // namespace photon::engine::test
