// Answers that nobody waits for any more: taken in their order, and not believed more than others.
#include "engine/parts/stale_answers.hpp"

#include <gtest/gtest.h>

namespace photon::engine {
namespace {

class StaleAnswersTest : public testing::Test {
 protected:
  StaleAnswersTest() {
    stale_.make_room(3);
    stale_.push(7, 100, 0);
    stale_.push(8, 100, 40);
    stale_.push(9, 100, 0);
  }
  StaleAnswers stale_;
};

TEST_F(StaleAnswersTest, each_is_forgotten_with_its_last_byte) {
  EXPECT_TRUE(stale_.data(7, 0, 60));
  EXPECT_EQ(stale_.size(), 3u);
  EXPECT_TRUE(stale_.data(7, 60, 40));
  EXPECT_EQ(stale_.size(), 2u);
  EXPECT_FALSE(stale_.data(7, 0, 1)) << "it was answered";
  EXPECT_TRUE(stale_.data(8, 40, 60));
  EXPECT_TRUE(stale_.data(9, 0, 100));
  EXPECT_TRUE(stale_.empty());
}

TEST_F(StaleAnswersTest, a_refusal_may_come_before_the_answers_in_front) {
  EXPECT_TRUE(stale_.refusal(8));
  EXPECT_FALSE(stale_.refusal(8));
  EXPECT_TRUE(stale_.data(7, 0, 100));
  EXPECT_TRUE(stale_.data(9, 0, 100));
  EXPECT_TRUE(stale_.empty());
}

TEST_F(StaleAnswersTest, what_was_not_asked_for_is_refused) {
  EXPECT_FALSE(stale_.data(6, 0, 10)) << "no such question";
  EXPECT_FALSE(stale_.data(7, 10, 10)) << "a gap";
  EXPECT_FALSE(stale_.data(8, 0, 40)) << "once more";
  EXPECT_FALSE(stale_.data(7, 0, 101)) << "too much";
  EXPECT_FALSE(stale_.refusal(0));
  EXPECT_EQ(stale_.size(), 3u);
}

TEST_F(StaleAnswersTest, room_is_made_for_all_together) {
  stale_.make_room(64);
  for (std::uint64_t i = 3; i < 64; ++i) stale_.push(i + 7, 1, 0);
  EXPECT_EQ(stale_.size(), 64u);
  for (std::uint64_t i = 3; i < 64; ++i) EXPECT_TRUE(stale_.data(i + 7, 0, 1));
  EXPECT_EQ(stale_.size(), 3u);
  stale_.clear();
  EXPECT_TRUE(stale_.empty());
}

}  // namespace
}  // namespace photon::engine
