#include "task/queue/inbox.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <thread>
#include <vector>

#include "task/pool/pool.hpp"

namespace photon::task {
namespace {

struct Post {
  Message& make(std::uint32_t source, std::uint32_t number) {
    Message& message = *pool.alloc(8);
    message.source = source;
    message.target = number;
    return message;
  }
  Returns returns{1};
  Pool pool{0, heap_memory(), returns, 0};
  Inbox inbox;
};

TEST(TaskInbox, what_came_first_is_served_first) {
  Post pe;
  EXPECT_EQ(pe.inbox.pop(), nullptr);
  EXPECT_FALSE(pe.inbox.take());
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_FALSE(pe.inbox.push(pe.make(0, i)));
  EXPECT_TRUE(pe.inbox.empty()) << "not taken yet";
  EXPECT_TRUE(pe.inbox.take());
  pe.inbox.push_own(pe.make(0, 3));
  EXPECT_FALSE(pe.inbox.push(pe.make(0, 4)));
  EXPECT_TRUE(pe.inbox.take());
  for (std::uint32_t i = 0; i < 5; ++i) {
    Message* message = pe.inbox.pop();
    ASSERT_NE(message, nullptr);
    EXPECT_EQ(message->target, i);
  }
  EXPECT_TRUE(pe.inbox.empty());
  pe.inbox.push_own(pe.make(0, 9));
  EXPECT_EQ(pe.inbox.pop()->target, 9u);
}

TEST(TaskInbox, exactly_one_push_wakes_a_sleeper) {
  Post pe;
  EXPECT_TRUE(pe.inbox.try_sleep());
  EXPECT_TRUE(pe.inbox.push(pe.make(0, 0)));
  EXPECT_FALSE(pe.inbox.push(pe.make(0, 1)));
  pe.inbox.rise();
  EXPECT_FALSE(pe.inbox.try_sleep()) << "something was pushed";
  EXPECT_TRUE(pe.inbox.take());
  EXPECT_EQ(pe.inbox.pop()->target, 0u);
  EXPECT_EQ(pe.inbox.pop()->target, 1u);
}

TEST(TaskInbox, who_rises_by_itself_is_not_woken) {
  Post pe;
  EXPECT_TRUE(pe.inbox.try_sleep());
  pe.inbox.rise();
  EXPECT_FALSE(pe.inbox.take());
  EXPECT_FALSE(pe.inbox.push(pe.make(0, 0)));
}

// On real hardware, and for the thread sanitizer.
TEST(TaskInbox, several_threads_push_in_order_and_nothing_is_lost) {
  constexpr std::uint32_t kSenders = 3;
  constexpr std::uint32_t kMessages = 4000;
  Inbox inbox;
  sync::HardwarePolicy::Atomic<std::uint64_t> wakes;
  Returns returns(kSenders);
  std::vector<std::unique_ptr<Pool>> pools;
  for (std::uint16_t i = 0; i < kSenders; ++i)
    pools.push_back(std::make_unique<Pool>(i, heap_memory(), returns, 0));
  std::vector<std::thread> senders;
  for (std::uint32_t source = 0; source < kSenders; ++source)
    senders.emplace_back([&, source] {
      for (std::uint32_t i = 0; i < kMessages; ++i) {
        Message& message = *pools[source]->alloc(8);
        message.source = source;
        message.target = i;
        if (inbox.push(message)) wakes.fetch_add(1, std::memory_order_release);
      }
    });
  std::array<std::uint32_t, kSenders> next{};
  std::uint64_t slept = 0;
  for (std::uint32_t count = 0; count < kSenders * kMessages;) {
    if (!inbox.take() && inbox.try_sleep()) {
      ++slept;
      while (wakes.load(std::memory_order_acquire) < slept) std::this_thread::yield();
      continue;
    }
    while (Message* message = inbox.pop()) {
      ASSERT_EQ(message->target, next[message->source]++);
      ++count;
    }
  }
  for (std::thread& sender : senders) sender.join();
  EXPECT_EQ(wakes.load(std::memory_order_relaxed), slept);
}

}  // namespace
}  // namespace photon::task
