// Gets whose owner stands still: who waits, sleeps, leaves or is a service meets nobody that waits
// for it.
#include <thread>

#include "probe_service.hpp"

namespace photon::engine::test {
namespace {

// Rank 1 stands still, and the clock is a real one.
class LateAnswers : public testing::Test {
 protected:
  // Rank 0 has a get that is over, and one that is asked for.
  void get_two() {
    LaneGuard guard(two_.ranks.lane(0));
    ASSERT_EQ(two_.ranks[0].get(1, two_.get(first_, PH_NO_RCE)), PH_OK);
    while (two_.ranks.probe(0, PH_LOCAL).empty()) two_.ranks[0].serve();
    ASSERT_EQ(two_.ranks[0].get(1, two_.get(second_, PH_NO_RCE)), PH_OK);
  }
  Two two_{options(Reach::Kind::call)};
  const bool filled_ = (fill(two_.memory.bytes(), 3), true);
  std::vector<std::byte> first_ = std::vector<std::byte>(3000);
  std::vector<std::byte> second_ = std::vector<std::byte>(60000);
};

TEST_F(LateAnswers, neither_a_flush_nor_a_fence_needs_their_owner) {
  get_two();
  LaneGuard guard(two_.ranks.lane(0));
  EXPECT_EQ(two_.ranks[0].flush(guard, 1, 10'000'000), PH_OK);
  EXPECT_EQ(two_.count(0, PH_LOCAL), 1u);
  EXPECT_EQ(first_difference(second_, 3), second_.size());
  EXPECT_EQ(two_.ranks[0].fence(1), PH_OK);
  const auto source = filled(8, 7);
  ASSERT_EQ(two_.ranks[0].put(1, two_.put(source)), PH_OK);
  EXPECT_EQ(two_.count(0, PH_LOCAL), 1u) << "the fence held it up";
}

TEST_F(LateAnswers, finalize_does_not_wait_for_them) {
  get_two();
  LaneGuard guard(two_.ranks.lane(0));
  EXPECT_EQ(two_.ranks[0].finalize(guard), PH_OK);
  EXPECT_EQ(first_difference(second_, 3), second_.size());
}

TEST_F(LateAnswers, an_owner_that_is_told_good_bye_before_it_answers_goes_on) {
  get_two();
  {
    LaneGuard guard(two_.ranks.lane(0));
    EXPECT_EQ(two_.ranks[0].finalize(guard), PH_OK);
  }
  for (int i = 0; i < 50; ++i) two_.ranks[1].serve();
  ph_path path{};
  EXPECT_EQ(two_.ranks[1].describe(0, path), PH_OK);
  EXPECT_STREQ(path.state, "departed");
}

// Far above what any of it needs, below the watchdog's limit.
constexpr std::int64_t kLimitUs = 15'000'000;

TEST_F(LateAnswers, a_get_of_another_thread_is_taken_over_by_the_one_that_sleeps) {
  ph_status status = PH_ERR_STATE;
  std::thread sleeper([&] {
    LaneGuard guard(two_.ranks.lane(0));
    status = two_.ranks[0].wait(guard, {1, PH_LOCAL, nullptr}, kLimitUs);
  });
  two_.ranks.fake(0).await_sleeper();
  {
    LaneGuard guard(two_.ranks.lane(0));
    EXPECT_EQ(two_.ranks[0].get(1, two_.get(second_)), PH_OK);
  }
  sleeper.join();
  EXPECT_EQ(status, PH_OK) << "it was slept through";
  EXPECT_EQ(two_.count(0, PH_LOCAL), 1u);
  EXPECT_EQ(first_difference(second_, 3), second_.size());
}

// Of a service, whose owner stands still.
class ServicesGets : public testing::Test {
 protected:
  ServicesGets() {
    fill(two_.memory.bytes(), 3);
    seat().own_time_ns = 1'000'000;
    EXPECT_EQ(two_.at(0).port.get(1, {ph_at(&two_.region, 0), landing_, 5}, handle_), PH_OK);
    two_.ranks[0].serve();
  }
  FakeNet::Seat& seat() { return two_.ranks.net().seats[0]; }
  void serve_alone() {
    seat().own_time_ns += 10'000;
    for (int i = 0; i < 20; ++i) two_.ranks[0].serve();
  }

  Probed two_{options(Reach::Kind::call)};
  std::vector<std::byte> landing_ = std::vector<std::byte>(20000);
  std::uint64_t handle_ = 0;
};

TEST_F(ServicesGets, are_taken_over_as_those_of_the_application) {
  EXPECT_TRUE(two_.at(0).heard.empty());
  serve_alone();
  EXPECT_EQ(two_.at(0).heard, std::vector<std::string>{"local 1 5 0"});
  EXPECT_EQ(seat().calls_count, 5u);
  EXPECT_EQ(first_difference(landing_, 3), landing_.size());
  std::fill(landing_.begin(), landing_.end(), std::byte{0});
  for (int i = 0; i < 50; ++i) two_.ranks.turn();
  EXPECT_EQ(landing_, std::vector<std::byte>(20000));
  EXPECT_EQ(two_.at(0).heard.size(), 1u);
}

TEST_F(ServicesGets, that_are_given_up_are_not_written_to_by_anybody) {
  EXPECT_TRUE(two_.at(0).port.give_up(handle_));
  serve_alone();
  for (int i = 0; i < 50; ++i) two_.ranks.turn();
  EXPECT_EQ(seat().calls_count, 0u);
  EXPECT_EQ(landing_, std::vector<std::byte>(20000));
  EXPECT_EQ(two_.at(0).heard.size(), 1u);
  EXPECT_NE(two_.at(0).heard, std::vector<std::string>{"local 1 5 0"});
}

}  // namespace
}  // namespace photon::engine::test
