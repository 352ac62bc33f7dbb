#include "task/collect/locks.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "rounds.hpp"

namespace photon::task {
namespace {

TEST(TaskLocks, one_holder_at_a_time_and_only_he_gives_it_back) {
  Locks locks;
  Lock& lock = *locks.create();
  EXPECT_EQ(lock.acquire(1), PH_OK);
  EXPECT_EQ(lock.acquire(1), PH_ERR_STATE) << "he would wait for himself";
  EXPECT_EQ(lock.try_acquire(1), PH_ERR_STATE);
  EXPECT_EQ(lock.try_acquire(2), PH_AGAIN);
  EXPECT_EQ(lock.release(2), PH_ERR_STATE);
  EXPECT_EQ(locks.destroy(&lock), PH_ERR_STATE);
  EXPECT_EQ(lock.release(1), PH_OK);
  EXPECT_EQ(lock.release(1), PH_ERR_STATE);
  EXPECT_EQ(lock.try_acquire(2), PH_OK);
  EXPECT_EQ(lock.release(2), PH_OK);
  EXPECT_EQ(locks.destroy(&lock), PH_OK);
  EXPECT_EQ(locks.destroy(&lock), PH_ERR_ARGUMENT);
  EXPECT_EQ(locks.destroy(nullptr), PH_ERR_ARGUMENT);
}

TEST(TaskLocks, who_waits_goes_on_when_it_is_free_and_nothing_is_lost_between) {
  Locks locks;
  Lock& lock = *locks.create();
  const std::uint64_t rounds = photon::test::rounds(20'000, 2'000);
  std::uint64_t sum = 0;
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < 3; ++rank)
    threads.emplace_back([&, rank] {
      for (std::uint64_t i = 0; i < rounds; ++i) {
        ASSERT_EQ(lock.acquire(rank), PH_OK);
        ++sum;
        ASSERT_EQ(lock.release(rank), PH_OK);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sum, 3 * rounds);
}

// Between the release and the turn of who waits the lock has no holder.
TEST(TaskLocks, one_that_somebody_waits_for_is_not_destroyed) {
  for (std::uint64_t round = 0; round < photon::test::rounds(200, 20); ++round) {
    Locks locks;
    Lock& lock = *locks.create();
    ASSERT_EQ(lock.acquire(1), PH_OK);
    std::atomic<bool> may_leave{false};
    std::thread waiter([&] {
      ASSERT_EQ(lock.acquire(2), PH_OK);
      while (!may_leave) std::this_thread::yield();
      ASSERT_EQ(lock.release(2), PH_OK);
    });
    while (lock.waiters() == 0) std::this_thread::yield();
    ASSERT_EQ(lock.release(1), PH_OK);
    EXPECT_EQ(locks.destroy(&lock), PH_ERR_STATE);
    may_leave = true;
    waiter.join();
    EXPECT_EQ(locks.destroy(&lock), PH_OK);
  }
}

}  // namespace
}  // namespace photon::task
