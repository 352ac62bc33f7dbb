#include "transport/network/owner_lock.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>

#include "watchdog.hpp"

namespace photon::transport::network {
namespace {

// (That its lock excludes in every interleaving: tests/checker/bias_lock_test.cpp.)
TEST(OwnerLock, its_engine_and_visitors_exclude_each_other) {
  const photon::test::Watchdog watchdog{std::chrono::seconds(60)};
  OwnerLock lock;
  std::uint64_t count = 0;  // under it
  constexpr std::uint64_t kTurns = 20'000;
  constexpr std::uint64_t kVisits = 300;
  std::thread visitor([&] {
    for (std::uint64_t i = 0; i < kVisits; ++i) {
      const Visit visit(lock);
      ++count;
    }
  });
  std::thread guest([&] {
    for (std::uint64_t done = 0; done < kVisits; std::this_thread::yield()) {
      if (!lock.try_visit()) continue;
      ++count;
      ++done;
      lock.end_visit();
    }
  });
  for (std::uint64_t i = 0; i < kTurns; ++i) {
    const std::scoped_lock inside(lock);
    ++count;
  }
  visitor.join();
  guest.join();
  EXPECT_EQ(count, kTurns + 2 * kVisits);
}

TEST(OwnerLock, nobody_visits_while_its_engine_is_inside_on_whichever_thread) {
  OwnerLock lock;
  for (int round = 0; round < 3; ++round) {
    std::thread([&] {
      const std::scoped_lock inside(lock);
      std::thread([&] { EXPECT_FALSE(lock.try_visit()); }).join();
    }).join();
    ASSERT_TRUE(lock.try_visit());
    lock.end_visit();
  }
}

TEST(OwnerLock, calls_from_within_a_call_have_it_until_the_outermost_ends) {
  OwnerLock lock;
  const auto is_free = [&] {
    bool is_entered = false;
    std::thread([&] {
      is_entered = lock.try_visit();
      if (is_entered) lock.end_visit();
    }).join();
    return is_entered;
  };
  {
    const Entered outer(lock);
    {
      const Entered inner(lock);
      EXPECT_FALSE(is_free());
    }
    EXPECT_FALSE(is_free());
  }
  EXPECT_TRUE(is_free());
}

}  // namespace
}  // namespace photon::transport::network
