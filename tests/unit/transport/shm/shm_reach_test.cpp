// What can be touched of a peer, and how.
#include <gtest/gtest.h>

#include <string>

#include "shm_pair.hpp"

namespace photon::transport::shm {
namespace {

using namespace test;

class ShmReach : public ShmPairTest {};
INSTANTIATE_TEST_SUITE_P(process, ShmReach, testing::Bool(), process_name);

TEST_P(ShmReach, memory_of_the_arena_is_mapped) {
  ShmPair pair(one_process());
  const auto arena = pair[1].transport->arena();
  ASSERT_EQ(arena.size(), std::size_t{1} << 20);
  const auto address = reinterpret_cast<std::uintptr_t>(arena.data()) + 100;
  EXPECT_EQ(pair[0].transport->reach(1, address, 8).kind, Reach::Kind::none) << "not met yet";
  ASSERT_TRUE(pair.join());
  const Reach reach = pair[0].transport->reach(1, address, 8);
  ASSERT_EQ(reach.kind, Reach::Kind::mapped);
  EXPECT_EQ(reach.local == arena.data() + 100, one_process());
  *reach.local = std::byte{0x77};
  EXPECT_EQ(arena[100], std::byte{0x77});
}

TEST_P(ShmReach, other_memory_is_reached_by_pointer_or_by_the_kernel) {
  ShmPair pair(one_process());
  ASSERT_TRUE(pair.join());
  std::uint64_t word = 7;
  const auto address = reinterpret_cast<std::uintptr_t>(&word);
  const Reach reach = pair[0].transport->reach(1, address, sizeof word);
  if (one_process()) {
    ASSERT_EQ(reach.kind, Reach::Kind::mapped);
    EXPECT_EQ(reach.local, reinterpret_cast<std::byte*>(&word));
    return;
  }
  ph_path path = {};
  pair[0].transport->describe(1, path);
  if (path.cma == 0) GTEST_SKIP() << path.reason;
  ASSERT_EQ(reach.kind, Reach::Kind::call);
  const std::uint64_t nine = 9;
  ASSERT_TRUE(pair[0].transport->write(1, address, std::as_bytes(std::span{&nine, 1})));
  EXPECT_EQ(word, 9U);
  std::uint64_t copy = 0;
  ASSERT_TRUE(pair[0].transport->read(1, address, std::as_writable_bytes(std::span{&copy, 1})));
  EXPECT_EQ(copy, 9U);
}

TEST(ShmReachAlone, addresses_that_leave_the_arena_are_not_mapped) {
  base::Config config = small_config();
  config.shm_cma = base::ShmCma::off;
  ShmPair pair(false, config, config);
  ASSERT_TRUE(pair.join());
  const auto arena = pair[1].transport->arena();
  const auto begin = reinterpret_cast<std::uintptr_t>(arena.data());
  Transport& transport = *pair[0].transport;
  EXPECT_EQ(transport.reach(1, begin, arena.size()).kind, Reach::Kind::mapped);
  EXPECT_EQ(transport.reach(1, begin + arena.size(), 0).kind, Reach::Kind::mapped);
  EXPECT_EQ(transport.reach(1, begin - 1, 1).kind, Reach::Kind::none) << "the doorbells";
  EXPECT_EQ(transport.reach(1, begin, arena.size() + 1).kind, Reach::Kind::none);
  EXPECT_EQ(transport.reach(1, begin + 8, ~std::uint64_t{0} - 4).kind, Reach::Kind::none);
  EXPECT_EQ(transport.reach(1, ~std::uint64_t{0}, 1).kind, Reach::Kind::none);
  EXPECT_EQ(transport.reach(7, begin, 1).kind, Reach::Kind::none);
  std::byte byte{};
  EXPECT_FALSE(transport.read(1, begin, {&byte, 1}));
  ph_path path = {};
  transport.describe(1, path);
  EXPECT_EQ(path.cma, 0);
  EXPECT_NE(std::string(path.reason).find("shm_cma is off"), std::string::npos) << path.reason;
}

}  // namespace
}  // namespace photon::transport::shm
