// How a thread that pauses is called, and how it is told to begin and to end.
#include "engine/parts/summons.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace photon::engine::test {
namespace {

using std::chrono::microseconds;
constexpr microseconds kLong = std::chrono::minutes(10);  // a test that waits for it fails
constexpr microseconds kShort{1};

TEST(Summons, a_thread_that_is_told_to_begin_does_and_one_that_is_told_to_end_before_does_not) {
  Summons begun;
  std::thread beginner([&] { begun.begin(); });
  EXPECT_TRUE(begun.await_begin());
  beginner.join();
  EXPECT_FALSE(begun.is_over());
  Summons ended;
  std::thread ender([&] { ended.end(); });
  EXPECT_FALSE(ended.await_begin());
  ender.join();
  EXPECT_TRUE(ended.is_over());
}

TEST(Summons, a_pause_that_nobody_ends_is_over_with_its_time_and_was_no_call) {
  Summons summons;
  EXPECT_EQ(summons.pause(kShort, true), Summons::Call::none);
  EXPECT_FALSE(summons.take_hurry());
  EXPECT_FALSE(summons.dozes());
}

TEST(Summons, who_hurries_ends_a_long_pause_and_leaves_a_short_one_alone) {
  Summons summons;
  summons.hurry();  // it does not doze
  EXPECT_EQ(summons.pause(kShort, false), Summons::Call::none);
  EXPECT_FALSE(summons.take_hurry());
  std::thread caller([&] {
    while (!summons.dozes()) std::this_thread::yield();
    summons.hurry();
  });
  EXPECT_EQ(summons.pause(kLong, true), Summons::Call::none);
  caller.join();
  EXPECT_TRUE(summons.take_hurry());
  EXPECT_FALSE(summons.take_hurry()) << "it is told once";
}

TEST(Summons, who_wants_it_soon_ends_any_pause_also_the_next_one) {
  Summons summons;
  summons.come_soon();
  EXPECT_EQ(summons.pause(kLong, false), Summons::Call::soon);
  EXPECT_EQ(summons.pause(kShort, false), Summons::Call::none) << "it has come";
}

TEST(Summons, only_the_end_cuts_a_pause_that_no_call_ends) {
  Summons summons;
  summons.come_soon();
  summons.pause_on(kShort);
  EXPECT_EQ(summons.pause(kLong, true), Summons::Call::soon) << "the call was kept";
  summons.end();
  summons.pause_on(kLong);
  EXPECT_EQ(summons.pause(kLong, true), Summons::Call::none);
  EXPECT_TRUE(summons.is_over());
}

}  // namespace
}  // namespace photon::engine::test
