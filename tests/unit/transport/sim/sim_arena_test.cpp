// Memory of ph_alloc() in the simulated network: what of a peer's is mapped, and for how long.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

#include "transport/sim/sim_transport.hpp"

namespace photon::transport::sim {
namespace {

constexpr std::uint64_t kArenaBytes = 64 << 10;

class Deaf final : public Sink {
 public:
  void on_link(Rank) override {}
  void on_activity(Rank) override {}
  void on_gone(Rank, const base::Error&) override {}
};

// Ranks that have met. Which of them reach each other's memory is the seed's.
struct Met {
  explicit Met(base::SimProfile profile, std::uint64_t seed = 1)
      : network(std::make_shared<SimNetwork>(
            2, SimNetwork::Settings{.seed = seed, .profile = profile})) {
    base::Config config;
    config.ring_lines = 64;
    config.bulk_bytes = 8192;
    config.max_regions = 16;
    config.arena_bytes = kArenaBytes;
    for (Rank rank = 0; rank < 2; ++rank)
      all.push_back(std::make_unique<SimTransport>(config, rank, network));
    EXPECT_TRUE(all[0]->connect(1));
    Deaf sink;
    for (unsigned i = 0; i < 1000; ++i)
      for (const auto& one : all) one->poll(sink);
  }
  Link& link(Rank from, Rank to) { return **all[from]->connect(to); }
  std::uint64_t arena(Rank rank, std::uint64_t offset = 0) {
    return reinterpret_cast<std::uint64_t>(all[rank]->arena().data()) + offset;
  }
  std::shared_ptr<SimNetwork> network;
  std::vector<std::unique_ptr<SimTransport>> all;
};

// 0: nothing is reached; 1: all; 2: ranges of an even number of bytes.
std::uint64_t seed_of(int kind) {
  for (std::uint64_t seed = 1;; ++seed) {
    const SimNetwork network(2, {.seed = seed, .profile = base::SimProfile::mapped});
    if (network.stores_reach(0, 1, 2) == (kind != 0) &&
        network.stores_reach(0, 1, 1) == (kind == 1))
      return seed;
  }
}

TEST(SimArena, is_zeroed_and_there_only_where_memory_is_shared) {
  Met met(base::SimProfile::mapped);
  const auto arena = met.all[0]->arena();
  ASSERT_EQ(arena.size(), kArenaBytes);
  for (const std::byte byte : arena) ASSERT_EQ(byte, std::byte{});
  for (const auto profile : {base::SimProfile::stream, base::SimProfile::rc}) {
    Met other(profile);
    EXPECT_TRUE(other.all[0]->arena().empty());
    EXPECT_FALSE(other.all[0]->map(1, met.arena(1), 8));
    EXPECT_EQ(other.link(0, 1).tx_holds, nullptr);
  }
}

TEST(SimArena, is_mapped_where_it_is_within_reach_of_stores) {
  Met nothing(base::SimProfile::mapped, seed_of(0));
  EXPECT_FALSE(nothing.all[0]->map(1, nothing.arena(1), 8));
  Met even(base::SimProfile::mapped, seed_of(2));
  EXPECT_TRUE(even.all[0]->map(1, even.arena(1), 8));
  EXPECT_FALSE(even.all[0]->map(1, even.arena(1), 7));
  Met all(base::SimProfile::mapped, seed_of(1));
  const auto mapping = all.all[0]->map(1, all.arena(1, 3), 7);
  ASSERT_TRUE(mapping);
  EXPECT_EQ(mapping->local, all.all[1]->arena().data() + 3);
}

TEST(SimArena, is_mapped_within_its_ends_alone) {
  Met met(base::SimProfile::mapped, seed_of(1));
  EXPECT_TRUE(met.all[0]->map(1, met.arena(1), kArenaBytes));
  EXPECT_FALSE(met.all[0]->map(1, met.arena(1), kArenaBytes + 1));
  EXPECT_FALSE(met.all[0]->map(1, met.arena(1, kArenaBytes), 1));
  EXPECT_FALSE(met.all[0]->map(1, met.arena(1) - 1, 8));
  EXPECT_FALSE(met.all[0]->map(1, met.arena(1), ~std::uint64_t{0}));
  EXPECT_FALSE(met.all[0]->map(0, met.arena(0), 8)) << "no link to itself";
  EXPECT_FALSE(met.all[0]->map(2, met.arena(1), 8));
}

TEST(SimArena, outlives_its_owner_as_long_as_somebody_maps_it) {
  Met met(base::SimProfile::mapped, seed_of(1));
  const std::uint64_t place = met.arena(1);
  auto mapping = met.all[0]->map(1, place, 8);
  ASSERT_TRUE(mapping);
  met.all[1].reset();
  met.all[0]->disconnect(1);
  mapping->local[0] = std::byte{7};
  EXPECT_EQ(mapping->local[0], std::byte{7});
  EXPECT_FALSE(met.all[0]->map(1, place, 8)) << "the link is gone";
  EXPECT_NE(met.network->arena_of(1).memory, nullptr);
  mapping.reset();
  EXPECT_EQ(met.network->arena_of(1).memory, nullptr);
}

TEST(SimArena, of_a_dead_rank_is_mapped_no_more_once_that_is_known) {
  Met met(base::SimProfile::mapped, seed_of(1));
  met.network->die(1, 0);
  EXPECT_FALSE(met.all[0]->map(1, met.arena(1), 8));
}

TEST(SimArena, is_held_by_a_table_that_the_owner_sees) {
  Met met(base::SimProfile::mapped);
  ASSERT_NE(met.link(0, 1).tx_holds, nullptr);
  met.link(0, 1).tx_holds->hold(0, 5);
  EXPECT_TRUE(met.link(1, 0).rx_holds->names(5));
  EXPECT_FALSE(met.link(0, 1).rx_holds->names(5));
  met.link(0, 1).tx_holds->let_go(0);
  EXPECT_FALSE(met.link(1, 0).rx_holds->names(5));
}

TEST(SimArena, is_that_of_all_lanes_and_mapped_by_the_ranks_own) {
  Met met(base::SimProfile::mapped, seed_of(1));
  const SimTransport lane(*met.all[1], met.network->lane(1));
  EXPECT_EQ(met.network->lane(1)->holds(0, 1), nullptr);
  EXPECT_EQ(met.network->lane(1)->arena_of(1).memory, nullptr);
  const std::uint64_t place = met.arena(1);
  met.all[1].reset();
  EXPECT_NE(met.network->arena_of(1).memory, nullptr) << "the lane has it: " << place;
}

}  // namespace
}  // namespace photon::transport::sim
