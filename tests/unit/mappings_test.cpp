// Mapping a peer's ph_alloc memory, over shared memory that is mapped once or twice.
#include "engine/parts/mappings.hpp"

#include <cstring>
#include <optional>

#include "engine/peer_view.hpp"
#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

// Rank 1 and the others map memory of rank 0.
class MappingsOver : public testing::TestWithParam<Ground> {
 protected:
  void open(std::uint32_t ranks_count) {
    ranks_.emplace(ranks_count, GetParam());
    for (Rank rank = 1; rank < ranks_count; ++rank) ranks().meet(rank, 0);
  }
  EngineGroup& ranks() { return *ranks_; }

  ph_region allocate(std::uint64_t size_bytes, Rank rank = 0) {
    ph_region region{};
    EXPECT_EQ(ranks()[rank].allocate(size_bytes, region), PH_OK) << ranks()[rank].last_error().what;
    return region;
  }
  static std::byte* bytes_of(const ph_region& region) {
    return reinterpret_cast<std::byte*>(region.address);
  }
  ph_status try_map(Rank rank, const ph_region& region, void*& local) {
    return PeerView(ranks()[rank]).map(0, region, local);
  }
  std::byte* map(Rank rank, const ph_region& region) {
    void* local = nullptr;
    EXPECT_EQ(try_map(rank, region, local), PH_OK) << ranks()[rank].last_error().what;
    return static_cast<std::byte*>(local);
  }
  ph_status unmap(Rank rank, void* local) { return PeerView(ranks()[rank]).unmap(local); }
  ph_status free(const ph_region& region) { return free_memory(ranks()[0], bytes_of(region)); }
  // Whether the place of a freed region is handed out again.
  bool is_reused(const ph_region& region) {
    const ph_region next = allocate(region.size_bytes);
    const bool is_same = next.address == region.address;
    EXPECT_EQ(free(next), PH_OK);
    return is_same;
  }
  void expect_words(Rank rank, const std::string& part) {
    const std::string words = ranks()[rank].last_error().what;
    EXPECT_NE(words.find(part), std::string::npos) << words;
  }

 private:
  std::optional<EngineGroup> ranks_;
};
INSTANTIATE_TEST_SUITE_P(Grounds, MappingsOver, testing::Values(Ground::shm, Ground::shm_two),
                         photon::test::ground_name);

TEST_P(MappingsOver, a_pointer_reaches_the_owners_bytes_both_ways) {
  open(2);
  const ph_region region = allocate(5000);
  std::byte* const local = map(1, region);
  ASSERT_NE(local, nullptr);
  EXPECT_EQ(local == bytes_of(region), GetParam() == Ground::shm);
  fill({local, 5000}, 3);
  EXPECT_EQ(first_difference({bytes_of(region), 5000}, 3), 5000u);
  fill({bytes_of(region), 5000}, 4);
  EXPECT_EQ(first_difference({local, 5000}, 4), 5000u);
  // Operations go on by the same mapping.
  const auto source = filled(5000, 5);
  const std::uint64_t local_id = 1, remote_id = 2;  // they live as long as what names them
  ph_put_args args = put_args(source, ph_at(&region, 0), local_id, remote_id);
  args.flags = PH_ALONE | PH_NO_RCE | PH_NO_LCE;
  ASSERT_EQ(ranks()[1].put(0, args), PH_OK);
  ranks()[1].serve();  // the second piece
  EXPECT_EQ(first_difference({local, 5000}, 5), 5000u);
  EXPECT_EQ(unmap(1, local), PH_OK);
  ASSERT_EQ(ranks()[1].put(0, args), PH_OK);
}

TEST_P(MappingsOver, each_map_is_given_back_once) {
  open(2);
  const ph_region region = allocate(4096);
  const ph_region part{region.address + 1024, 100, region.key};
  std::byte* const local = map(1, region);
  EXPECT_EQ(map(1, region), local);
  EXPECT_EQ(map(1, part), local + 1024);
  EXPECT_EQ(unmap(1, local), PH_OK);
  EXPECT_EQ(unmap(1, local), PH_OK);
  EXPECT_EQ(unmap(1, local), PH_ERR_NOT_FOUND);
  expect_words(1, "unmap");
  EXPECT_EQ(unmap(1, local + 1), PH_ERR_NOT_FOUND);
  EXPECT_EQ(unmap(1, local + 1024), PH_OK);
  EXPECT_EQ(unmap(1, nullptr), PH_OK);
}

TEST_P(MappingsOver, what_cannot_be_mapped_is_told) {
  open(2);
  const ph_region region = allocate(4096);
  std::vector<std::byte> ordinary(4096);
  const ph_region registered = ranks().add(0, ordinary);
  const ph_region inside = ranks().add(0, {bytes_of(region) + 64, 64});
  void* local = nullptr;
  EXPECT_EQ(try_map(1, {region.address, 4097, region.key}, local), PH_ERR_RANGE);
  EXPECT_EQ(try_map(1, {region.address - 1, 10, region.key}, local), PH_ERR_RANGE);
  EXPECT_EQ(try_map(1, {~std::uint64_t{0} - 3, 64, region.key}, local), PH_ERR_RANGE);
  EXPECT_EQ(try_map(1, {region.address, 4096, region.key ^ 1u << 20}, local), PH_ERR_KEY);
  EXPECT_EQ(try_map(1, {region.address, 0, region.key}, local), PH_ERR_ARGUMENT);
  EXPECT_EQ(try_map(1, registered, local), PH_ERR_NOT_FOUND);
  expect_words(1, "ph_alloc");
  EXPECT_EQ(try_map(1, inside, local), PH_ERR_NOT_FOUND) << "it goes with another key";
  EXPECT_EQ(PeerView(ranks()[1]).map(2, region, local), PH_ERR_RANK);
  EXPECT_EQ(local, nullptr);
  EXPECT_EQ(free(region), PH_OK);
  EXPECT_TRUE(is_reused(region)) << "nothing is held";
}

TEST_P(MappingsOver, before_the_owner_has_met_us_it_is_again) {
  EngineGroup ranks(2, GetParam());
  ph_region region{};
  ASSERT_EQ(ranks[0].allocate(64, region), PH_OK);
  void* local = nullptr;
  EXPECT_EQ(PeerView(ranks[1]).map(0, region, local), PH_AGAIN);
  ph_status status = PH_AGAIN;
  EXPECT_TRUE(ranks.eventually([&] {
    status = PeerView(ranks[1]).map(0, region, local);
    return status != PH_AGAIN;
  }));
  EXPECT_EQ(status, PH_OK);
  EXPECT_NE(local, nullptr);
}

TEST_P(MappingsOver, freed_memory_is_given_to_nobody_else_before_all_have_let_go) {
  open(3);
  const ph_region region = allocate(4096);
  std::byte* const first = map(1, region);
  std::byte* const second = map(2, region);
  EXPECT_EQ(map(2, {region.address + 64, 64, region.key}), second + 64);
  fill({first, 4096}, 3);
  ASSERT_EQ(free(region), PH_OK) << "the owner waits for nobody";
  void* late = nullptr;
  EXPECT_EQ(try_map(1, region, late), PH_ERR_KEY) << "its key is stale at once";
  EXPECT_EQ(free(region), PH_ERR_NOT_FOUND);
  EXPECT_FALSE(is_reused(region));
  EXPECT_EQ(first_difference({second, 4096}, 3), 4096u);
  EXPECT_EQ(unmap(1, first), PH_OK);
  EXPECT_FALSE(is_reused(region));
  EXPECT_EQ(unmap(2, second), PH_OK);
  EXPECT_FALSE(is_reused(region)) << "of a part of it";
  EXPECT_EQ(unmap(2, second + 64), PH_OK);
  EXPECT_TRUE(is_reused(region));
}

TEST_P(MappingsOver, slots_of_freed_memory_that_is_held_are_not_used_again_either) {
  open(2);
  const ph_region region = allocate(64);
  std::byte* const local = map(1, region);
  ASSERT_EQ(free(region), PH_OK);
  std::vector<ph_region> others;
  for (int i = 0; i < 15; ++i) others.push_back(allocate(64));  // of 16 slots
  for (const ph_region& other : others) EXPECT_NE(other.key & 15, region.key & 15);
  std::vector<std::byte> ordinary(64);
  ph_region more{};
  const ph_region range{reinterpret_cast<std::uint64_t>(ordinary.data()), 64, 0};
  EXPECT_EQ(ranks()[0].add_region(range, PH_ACCESS_ALL, more), PH_ERR_MEMORY);
  EXPECT_EQ(unmap(1, local), PH_OK);
  EXPECT_EQ(ranks()[0].add_region(range, PH_ACCESS_ALL, more), PH_OK);
  EXPECT_EQ(more.key & 15, region.key & 15);
}

TEST_P(MappingsOver, a_rank_maps_its_own_memory) {
  open(1);
  ASSERT_EQ(PeerView(ranks()[0]).contact(0), PH_OK);
  ranks().turn();
  const ph_region region = allocate(64);
  std::byte* const local = map(0, region);
  EXPECT_EQ(local, bytes_of(region));
  ASSERT_EQ(free(region), PH_OK);
  EXPECT_FALSE(is_reused(region));
  EXPECT_EQ(unmap(0, local), PH_OK);
  EXPECT_TRUE(is_reused(region));
}

TEST_P(MappingsOver, the_pointer_outlives_its_owner_and_the_hold_ends_with_the_mapper) {
  open(3);
  const ph_region region = allocate(4096);
  std::byte* const first = map(1, region);
  std::byte* const second = map(2, region);
  ASSERT_EQ(free(region), PH_OK);
  EXPECT_EQ(unmap(1, first), PH_OK);
  EXPECT_FALSE(is_reused(region));
  ranks().end(2);
  EXPECT_TRUE(is_reused(region)) << second;
  const ph_region again = allocate(4096);
  std::byte* const local = map(1, again);
  ranks().end(0);
  fill({local, 4096}, 7);
  EXPECT_EQ(first_difference({local, 4096}, 7), 4096u);
  EXPECT_EQ(unmap(1, local), PH_OK);
  EXPECT_EQ(unmap(1, local), PH_ERR_NOT_FOUND);
}

TEST_P(MappingsOver, the_most_places_of_one_peer_are_bounded_with_words) {
  open(2);
  constexpr std::size_t kMost = transport::Holds::kEntries;
  const ph_region region = allocate(64 * (kMost + 1));
  const auto place = [&](std::size_t i) {
    return ph_region{region.address + 64 * i, 64, region.key};
  };
  for (std::size_t i = 0; i < kMost; ++i) ASSERT_NE(map(1, place(i)), nullptr);
  void* local = nullptr;
  EXPECT_EQ(try_map(1, place(kMost), local), PH_ERR_MEMORY);
  expect_words(1, "unmap some");
  ASSERT_NE(map(1, place(0)), nullptr) << "it is mapped, and counts";
  EXPECT_EQ(unmap(1, map(1, place(3))), PH_OK);
  EXPECT_EQ(unmap(1, map(1, place(3))), PH_OK);
  void* const third = map(1, place(3));
  EXPECT_EQ(unmap(1, third), PH_OK);
  EXPECT_EQ(unmap(1, third), PH_OK) << "the first of all";
  EXPECT_EQ(try_map(1, place(kMost), local), PH_OK) << "in its place";
}

TEST(Mappings, without_shared_memory_there_is_nothing_to_map) {
  for (const Ground ground : {Ground::fake, Ground::sim}) {
    EngineGroup ranks(2, ground);
    ph_region region{};
    ASSERT_EQ(ranks[0].allocate(64, region), PH_OK);
    ranks.meet(0, 1);
    if (ground == Ground::fake) ranks.net().way(1, 0).credits.set_met();
    void* local = nullptr;
    EXPECT_EQ(PeerView(ranks[1]).map(0, region, local), PH_ERR_NOT_FOUND);
    EXPECT_NE(ranks[1].last_error().what.find("ph_path_to()"), std::string::npos);
  }
}

}  // namespace
}  // namespace photon::engine::test
