// A thread that sleeps without limit is told of work that a clock has to end: a bulk put whose
// target takes no chunks, which the kernel finishes after a while.
#include <thread>

#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

// Far above what any of it needs, below the watchdog's limit.
constexpr std::int64_t kLimitUs = 15'000'000;

// Rank 0 waits in a thread of its own for a local id, and rank 1 stands still.
class StalledSleep : public testing::Test {
 protected:
  void sleep() {
    sleeper_ = std::thread([this] {
      LaneGuard guard(two_.ranks.lane(0));
      status_ = two_.ranks[0].wait(guard, {1, PH_LOCAL, nullptr}, kLimitUs);
    });
    two_.ranks.fake(0).await_sleeper();
  }
  void post(const ph_put_args& args) {
    LaneGuard guard(two_.ranks.lane(0));
    EXPECT_EQ(two_.ranks[0].put(1, args), PH_OK);
  }
  void expect_finished_by_the_sleeper() {
    sleeper_.join();
    EXPECT_EQ(status_, PH_OK) << "it was slept through";
    EXPECT_EQ(two_.memory.bytes()[source_.size() - 1], source_.back());
    const auto found = two_.ranks.probe(0, PH_LOCAL);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].id, two_.local_id);
    EXPECT_EQ(found[0].status, PH_OK);
  }

  Two two_{options(Reach::Kind::call)};
  const std::vector<std::byte> source_ = filled(60000, 7);
  std::thread sleeper_;
  ph_status status_ = PH_OK;
};

TEST_F(StalledSleep, a_put_of_another_thread_is_finished_by_the_one_that_sleeps) {
  ASSERT_NE(source_.back(), std::byte{0});
  sleep();
  post(two_.put(source_));
  expect_finished_by_the_sleeper();
  EXPECT_EQ(two_.ranks.take(1, PH_REMOTE).id, two_.remote_id);
}

}  // namespace
}  // namespace photon::engine::test
