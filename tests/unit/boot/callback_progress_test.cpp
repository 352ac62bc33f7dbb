#include "boot/callback_progress.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <new>
#include <thread>

namespace photon::test {
namespace {

TEST(CallbackProgress, serves_on_another_thread_again_and_again_until_its_end) {
  std::mutex mutex;
  std::condition_variable news;
  int served = 0;
  std::thread::id server;
  const boot::Serve serve = [&] {
    const std::scoped_lock lock(mutex);
    ++served;
    server = std::this_thread::get_id();
    news.notify_one();
  };
  boot::CallbackProgress meanwhile(serve);
  {
    std::unique_lock lock(mutex);
    EXPECT_TRUE(news.wait_for(lock, std::chrono::seconds(20), [&] { return served >= 20; }));
  }
  meanwhile.end();
  const int at_end = served;  // under no lock: nobody else is left
  EXPECT_GE(at_end, 20);
  EXPECT_NE(server, std::this_thread::get_id());
  meanwhile.end();
  EXPECT_EQ(served, at_end);
}

TEST(CallbackProgress, serves_once_however_soon_its_end_comes) {
  for (int round = 0; round < 100; ++round) {
    int served = 0;
    const boot::Serve serve = [&] { ++served; };
    boot::CallbackProgress(serve).end();
    EXPECT_GE(served, 1);
  }
}

// How long so many turns take, the first of which is made at once.
std::chrono::nanoseconds time_of_turns(bool moves) {
  constexpr int kTurns = 64;
  std::mutex mutex;
  std::condition_variable news;
  int served = 0;
  const boot::Serve serve = [&] {
    const std::scoped_lock lock(mutex);
    if (++served == kTurns) news.notify_one();
    return moves;
  };
  const auto begin = std::chrono::steady_clock::now();
  boot::CallbackProgress meanwhile(serve);
  {
    std::unique_lock lock(mutex);
    EXPECT_TRUE(news.wait_for(lock, std::chrono::seconds(20), [&] { return served >= kTurns; }));
  }
  const auto time = std::chrono::steady_clock::now() - begin;
  meanwhile.end();
  return time;
}

TEST(CallbackProgress, makes_the_next_turn_without_a_pause_while_something_moves) {
  EXPECT_LT(4 * time_of_turns(true), time_of_turns(false));
}

// Else a rank that is short of memory for a moment would keep its peers waiting for ever.
TEST(CallbackProgress, goes_on_after_serving_threw) {
  std::mutex mutex;
  std::condition_variable news;
  int served = 0;
  const boot::Serve serve = [&] {
    {
      const std::scoped_lock lock(mutex);
      ++served;
    }
    news.notify_one();
    if (served == 1) throw std::bad_alloc();
  };
  boot::CallbackProgress meanwhile(serve);
  {
    std::unique_lock lock(mutex);
    EXPECT_TRUE(news.wait_for(lock, std::chrono::seconds(20), [&] { return served >= 5; }));
  }
  EXPECT_THROW(meanwhile.end(), std::bad_alloc);
}

TEST(CallbackProgress, what_serving_throws_is_thrown_at_the_end_and_never_by_the_destructor) {
  const boot::Serve serve = [] { throw std::bad_alloc(); };
  boot::CallbackProgress meanwhile(serve);
  EXPECT_THROW(meanwhile.end(), std::bad_alloc);
  { boot::CallbackProgress unheard(serve); }
}

}  // namespace
}  // namespace photon::test
