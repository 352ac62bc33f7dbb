#include "transport/shm/shm_transport.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "shm_pair.hpp"

namespace photon::transport::shm {
namespace {

using test::ShmPair;

TEST(ShmTransport, opens_with_an_arena_and_a_region_table_of_the_size_asked_for) {
  ShmPair pair(true);
  Transport& transport = *pair[0].transport;
  EXPECT_STREQ(transport.name(), "shm");
  EXPECT_EQ(transport.arena().size(), std::size_t{1} << 20);
  EXPECT_EQ(transport.regions().size(), 64U);
  for (const RegionEntry& entry : transport.regions()) EXPECT_EQ(entry.key(), 0U);
  const auto arena = transport.arena();
  EXPECT_TRUE(
      std::all_of(arena.begin(), arena.end(), [](std::byte b) { return b == std::byte{}; }));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(arena.data()) % 4096, 0U);
  EXPECT_TRUE(transport.drained());
}

TEST(ShmTransport, says_that_an_arena_is_too_large_for_this_machine) {
  photon::test::MemoryJob job(1);
  const auto boot = job.boot(0);
  base::Config config;
  config.arena_bytes = std::uint64_t{1} << 50;
  const auto opened = open_shm(config, *boot);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().status, PH_ERR_MEMORY);
  EXPECT_NE(opened.error().what.find("photon-arena"), std::string::npos) << opened.error().what;
}

TEST(ShmTransport, describes_a_rank_never_met) {
  ShmPair pair(true);
  ph_path path = {};
  pair[0].transport->describe(1, path);
  EXPECT_STREQ(path.transport, "shm");
  EXPECT_EQ(path.same_process + path.cma + path.arena_mapped, 0);
  EXPECT_NE(std::string(path.reason).find("no contact"), std::string::npos);
}

TEST(ShmTransport, ignores_what_it_is_told_of_ranks_never_met) {
  ShmPair pair(true);
  Transport& transport = *pair[0].transport;
  transport.kick(1);
  transport.disconnect(1);
  EXPECT_EQ(transport.reach(1, 4096, 1).kind, Reach::Kind::none);
  std::byte byte{};
  EXPECT_FALSE(transport.read(1, 4096, {&byte, 1}));
  EXPECT_FALSE(transport.write(1, 4096, {&byte, 1}));
}

}  // namespace
}  // namespace photon::transport::shm
