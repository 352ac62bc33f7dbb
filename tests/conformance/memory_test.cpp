// What a rank can see and touch of a peer: region table, arena, ordinary memory, intents.
#include <array>
#include <numeric>

#include "transport_harness.hpp"

namespace photon::test {
namespace {

using transport::Reach;

template <class T>
std::uint64_t address_of(const T* object) {
  return reinterpret_cast<std::uintptr_t>(object);
}

bool in_same_process(TransportHarness& job) {
  ph_path path = {};
  path.size = sizeof path;
  job[0].transport().describe(1, path);
  return path.same_process != 0;
}

// Rank 0 stores `bytes` at an address of rank 1 and reads them back, in the way reach() says.
void write_and_read(TransportHarness& job, std::uint64_t address,
                    std::span<const std::byte> bytes) {
  const Reach reach = job[0].transport().reach(1, address, bytes.size());
  std::vector<std::byte> back(bytes.size());
  if (reach.kind == Reach::Kind::mapped) {
    std::memcpy(reach.local, bytes.data(), bytes.size());
    std::memcpy(back.data(), reach.local, bytes.size());
  } else {
    ASSERT_TRUE(job[0].transport().write(1, address, bytes));
    ASSERT_TRUE(job[0].transport().read(1, address, back));
  }
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), back.begin()));
}

TEST_P(TransportConformance, the_region_table_is_empty_and_as_large_as_configured) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  const auto regions = job[1].transport().regions();
  ASSERT_EQ(regions.size(), job.config().max_regions);
  for (const auto& region : regions) EXPECT_EQ(region.key(), 0u);
}

TEST_P(TransportConformance, a_peer_sees_registrations_come_and_go_or_has_no_table) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  const transport::RegionEntry* table = job[0].to(1).link().peer_regions;
  if (table == nullptr) GTEST_SKIP() << "only the owner can check keys";
  auto mine = job[1].transport().regions();
  sync::RegionView view;
  for (const std::size_t slot : {std::size_t{0}, std::size_t{7}, mine.size() - 1}) {
    const std::uint64_t key = 0xabcd0000 + slot;
    EXPECT_FALSE(table[slot].read(key, view));
    mine[slot].publish(key, {0x1000 + slot, 77, 3});
    ASSERT_TRUE(table[slot].read(key, view));
    EXPECT_EQ(view.address, 0x1000 + slot);
    EXPECT_EQ(view.size_bytes, 77u);
    EXPECT_EQ(view.access, 3u);
    mine[slot].revoke();
    EXPECT_FALSE(table[slot].read(key, view));
  }
}

// Only a simulated network has an arena that its seed puts out of reach of stores.
bool is_far_by_seed() { return std::string(TransportConformance::GetParam().name) == "sim_mapped"; }

TEST_P(TransportConformance, a_peers_arena_is_reached_by_plain_stores) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  const auto arena = job[1].transport().arena();
  if (arena.empty()) GTEST_SKIP() << "this transport has no arena";
  ASSERT_GE(arena.size(), job.config().arena_bytes);
  if (job[0].transport().reach(1, address_of(arena.data()), 1).kind == Reach::Kind::posted)
    GTEST_SKIP() << "this peer is reached by its NIC, other peers of the rank may map it";
  for (const std::size_t offset : {std::size_t{0}, std::size_t{4097}, arena.size() - 100}) {
    std::array<std::byte, 100> bytes;
    bytes.fill(static_cast<std::byte>(offset + 1));
    const auto address = address_of(arena.data() + offset);
    ASSERT_EQ(job[0].transport().reach(1, address, bytes.size()).kind,
              is_far_by_seed() ? Reach::Kind::call : Reach::Kind::mapped);
    write_and_read(job, address, bytes);
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), arena.begin() + offset));
  }
}

TEST_P(TransportConformance, what_leaves_the_arena_is_not_mapped_as_arena) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  const auto arena = job[1].transport().arena();
  if (arena.empty()) GTEST_SKIP() << "this transport has no arena";
  const bool is_near_by_seed = std::string(GetParam().name) == "sim_mapped_near";
  if (in_same_process(job) || is_near_by_seed)
    GTEST_SKIP() << "everything is mapped within a process";
  const std::uint64_t begin = address_of(arena.data());
  const std::uint64_t end = begin + arena.size();
  struct Range {
    std::uint64_t address;
    std::uint64_t size_bytes;
  };
  for (const Range range : {Range{end - 1, 2}, Range{end, 1}, Range{begin - 1, 1},
                            Range{begin - 1, 2}, Range{begin, arena.size() + 1},
                            Range{end - 1, ~std::uint64_t{0}}, Range{begin, ~std::uint64_t{0}},
                            Range{0, ~std::uint64_t{0}}, Range{~std::uint64_t{0}, 1}}) {
    EXPECT_NE(job[0].transport().reach(1, range.address, range.size_bytes).kind,
              Reach::Kind::mapped)
        << range.address - begin << "+" << range.size_bytes;
  }
}

TEST_P(TransportConformance, ordinary_memory_is_reached_as_reach_says_or_not_at_all) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  std::vector<std::byte> memory(100'000);
  std::vector<std::byte> bytes(memory.size(), std::byte{0x5a});
  const auto address = address_of(memory.data());
  const auto way = job[0].transport().reach(1, address, memory.size()).kind;
  if (way == Reach::Kind::posted) GTEST_SKIP() << "by its NIC: rma_ops_test.cpp";
  if (way != Reach::Kind::none) {
    write_and_read(job, address, bytes);
    EXPECT_EQ(memory, bytes);
    return;
  }
  std::vector<std::byte> destination(memory.size());
  EXPECT_FALSE(job[0].transport().write(1, address, bytes));
  EXPECT_FALSE(job[0].transport().read(1, address, destination));
  EXPECT_EQ(memory, std::vector<std::byte>(memory.size())) << "a refused write wrote";
}

TEST_P(TransportConformance, a_call_to_memory_that_is_not_there_is_an_error) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  constexpr std::uint64_t kNowhere = 4096;
  if (job[0].transport().reach(1, kNowhere, 64).kind == Reach::Kind::mapped)
    GTEST_SKIP() << "mapped memory is checked by its key, not here";
  std::array<std::byte, 64> bytes = {};
  EXPECT_FALSE(job[0].transport().read(1, kNowhere, bytes));
  EXPECT_FALSE(job[0].transport().write(1, kNowhere, bytes));
}

TEST_P(TransportConformance, nothing_is_reached_before_the_peer_answered_or_of_a_stranger) {
  TransportHarness job(GetParam(), 3);
  ASSERT_TRUE(job.opened());
  job[0].to(1);
  std::uint64_t word = 0;
  EXPECT_EQ(job[0].transport().reach(1, address_of(&word), sizeof word).kind, Reach::Kind::none);
  EXPECT_EQ(job[0].transport().reach(2, address_of(&word), sizeof word).kind, Reach::Kind::none);
}

TEST_P(TransportConformance, the_owner_sees_the_intent_of_who_can_reach_its_memory) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  transport::Link& initiator = job[0].to(1).link();
  const transport::Link& owner = job[1].to(0).link();
  ASSERT_EQ(initiator.tx_intent == nullptr, owner.rx_intent == nullptr);
  if (initiator.tx_intent == nullptr) {
    const auto way = job[0].transport().reach(1, address_of(&job), 1).kind;
    EXPECT_TRUE(way == Reach::Kind::none || way == Reach::Kind::posted);
    GTEST_SKIP() << "nobody copies in a peer's memory by itself";
  }
  EXPECT_FALSE(owner.rx_intent->names(0));
  initiator.tx_intent->enter(5, initiator.fenced);
  EXPECT_TRUE(owner.rx_intent->names(5));
  EXPECT_FALSE(owner.rx_intent->names(4));
  initiator.tx_intent->leave();
  EXPECT_FALSE(owner.rx_intent->names(5));
}

TEST_P(TransportConformance, the_owner_sees_what_is_held_of_its_memory) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  transport::Link& mapper = job[0].to(1).link();
  const transport::Link& owner = job[1].to(0).link();
  ASSERT_EQ(mapper.tx_holds == nullptr, owner.rx_holds == nullptr);
  if (mapper.tx_holds == nullptr) {
    const auto arena = job[1].transport().arena();
    EXPECT_FALSE(job[0].transport().map(1, address_of(arena.data()), 1));
    GTEST_SKIP() << "nobody maps a peer's memory";
  }
  constexpr std::size_t kLast = transport::Holds::kEntries - 1;
  EXPECT_FALSE(owner.rx_holds->names(0));
  mapper.tx_holds->hold(3, 5);
  mapper.tx_holds->hold(kLast, 0);
  for (const std::uint64_t slot : {0, 1, 4, 5, 6})
    EXPECT_EQ(owner.rx_holds->names(slot), slot % 5 == 0) << slot;
  mapper.tx_holds->let_go(3);
  EXPECT_FALSE(owner.rx_holds->names(5));
  EXPECT_TRUE(owner.rx_holds->names(0));
  mapper.tx_holds->let_go(kLast);
  EXPECT_FALSE(owner.rx_holds->names(0));
}

TEST_P(TransportConformance, what_is_mapped_of_an_arena_outlives_the_link) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  const auto arena = job[1].transport().arena();
  if (job[0].to(1).link().tx_holds == nullptr) GTEST_SKIP() << "nobody maps a peer's memory";
  std::byte* const place = arena.data() + 5000;
  std::uint64_t word = 0;
  EXPECT_FALSE(job[0].transport().map(1, address_of(&word), sizeof word)) << "no arena's";
  EXPECT_FALSE(job[0].transport().map(1, address_of(arena.data()), arena.size() + 1));
  if (is_far_by_seed()) {
    EXPECT_FALSE(job[0].transport().map(1, address_of(place), 100));
    return;
  }
  auto mapping = job[0].transport().map(1, address_of(place), 100);
  const auto again = job[0].transport().map(1, address_of(place), 100);
  ASSERT_TRUE(mapping && again);
  EXPECT_EQ(mapping->local, again->local);
  mapping->local[99] = std::byte{7};
  EXPECT_EQ(place[99], std::byte{7});
  const Reach reach = job[0].transport().reach(1, address_of(place), 100);
  EXPECT_EQ(reach.local, mapping->local) << "operations go on by it";
  job[0].transport().disconnect(1);
  EXPECT_FALSE(job[0].transport().map(1, address_of(place), 100));
  mapping.reset();
  again->local[98] = std::byte{8};
  EXPECT_EQ(place[98], std::byte{8});
}

TEST_P(TransportConformance, arenas_of_two_ranks_are_two_memories) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  const auto first = job[0].transport().arena();
  const auto second = job[1].transport().arena();
  if (first.empty()) GTEST_SKIP() << "this transport has no arena";
  first[0] = std::byte{1};
  second[0] = std::byte{2};
  EXPECT_EQ(first[0], std::byte{1});
}

}  // namespace
}  // namespace photon::test
