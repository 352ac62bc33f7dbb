#include "transport/ofi/ofi_message_pool.hpp"

#include <gtest/gtest.h>

#include <set>

#include "fake_fabric.hpp"

namespace photon::transport::ofi {
namespace {

using photon::test::FakeFabric;

TEST(OfiMessagePool, gives_as_many_slots_as_were_reserved_each_once) {
  FakeFabric fabric({}, {.sends_count = 8});
  MessagePool pool(fabric, 4096);
  ASSERT_TRUE(pool.reserve(2));
  ASSERT_TRUE(pool.reserve(3));
  std::set<const std::byte*> memory;
  for (int i = 0; i < 5; ++i) {
    const Buffer next = pool.next();
    EXPECT_EQ(next.bytes.size(), 4096u);
    EXPECT_EQ(pool.at(pool.take()).bytes.data(), next.bytes.data());
    memory.insert(next.bytes.data());
  }
  EXPECT_EQ(memory.size(), 5u);
}

TEST(OfiMessagePool, what_was_given_back_last_is_taken_first_also_after_it_grew) {
  FakeFabric fabric({}, {.sends_count = 8});
  MessagePool pool(fabric, 4096);
  ASSERT_TRUE(pool.reserve(2));
  const auto first = pool.take(), second = pool.take();
  pool.give(second);
  pool.give(first);
  ASSERT_TRUE(pool.reserve(2));
  EXPECT_EQ(pool.take(), first);
  EXPECT_EQ(pool.take(), second);
}

TEST(OfiMessagePool, memory_of_who_is_gone_serves_who_comes) {
  FakeFabric fabric({.wants_memory_shown = true}, {.sends_count = 8});
  MessagePool pool(fabric, 4096);
  ASSERT_TRUE(pool.reserve(1));
  const std::byte* memory = pool.next().bytes.data();
  EXPECT_NE(pool.next().handle, 0u);
  pool.release(1);
  ASSERT_TRUE(pool.reserve(1));
  EXPECT_EQ(pool.next().bytes.data(), memory);
}

}  // namespace
}  // namespace photon::transport::ofi
