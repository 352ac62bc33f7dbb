// PH_ALONE: which way such operations take, and what becomes of one whose way goes.
#include "engine/alone.hpp"

#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

// Rank 1 has met rank 0, and makes no turn unless a test says so.
struct Lone : Two {
  explicit Lone(const FakeOptions& chosen) : Two(chosen) {
    ranks.net().way(0, 1).credits.set_met();
  }
  FakeNet::Seat& seat() { return ranks.net().seats[0]; }
  bool has(std::uint64_t seed, std::size_t bytes) {
    return first_difference(memory.bytes().first(bytes), seed) == bytes;
  }
  void expect_nothing_sent() {
    ranks.turn();
    EXPECT_EQ(count(1, PH_EITHER), 0u);
    EXPECT_TRUE(memory.untouched());
    EXPECT_EQ(ranks[0].resource_use().requests, 0u);
    EXPECT_EQ(ranks[0].resource_use().events, 0);
  }
};

TEST(Alone, a_small_put_takes_the_mapped_or_the_kernels_way_though_it_would_go_as_a_record) {
  for (const auto reach : {Reach::Kind::mapped, Reach::Kind::call})
    for (const std::size_t size : {1, 8, 32, 200, 4000, 20000}) {
      SCOPED_TRACE(size);
      Lone lone(options(reach));
      const auto source = filled(size, 3);
      ASSERT_EQ(lone.ranks[0].put(1, lone.put(source, PH_ALONE)), PH_OK);
      for (int i = 0; i < 20; ++i) lone.ranks[0].serve();
      EXPECT_TRUE(lone.has(3, size)) << "the target has made no turn";
      EXPECT_EQ(lone.ranks.take(0, PH_LOCAL).status, PH_OK);
      EXPECT_EQ(lone.ranks.take(1, PH_REMOTE).id, lone.remote_id) << "its id is a record";
      EXPECT_EQ(lone.seat().calls_count != 0, reach == Reach::Kind::call);
    }
}

TEST(Alone, a_get_copies_itself_and_asks_nobody) {
  for (const auto reach : {Reach::Kind::mapped, Reach::Kind::call})
    for (const std::size_t size : {1, 200, 20000}) {
      Lone lone(options(reach));
      fill(lone.memory.bytes().first(size), 5);
      std::vector<std::byte> there(size);
      ASSERT_EQ(lone.ranks[0].get(1, lone.get(there, PH_ALONE | PH_NO_RCE)), PH_OK);
      for (int i = 0; i < 20; ++i) lone.ranks[0].serve();
      const auto found = lone.ranks.probe(0, PH_LOCAL);
      ASSERT_EQ(found.size(), 1u);
      EXPECT_EQ(first_difference(there, 5), size);
    }
}

TEST(Alone, what_nics_move_goes_by_them_however_small) {
  Lone lone(options(Reach::Kind::posted));
  const auto source = filled(8, 3);
  ASSERT_EQ(lone.ranks[0].put(1, lone.put(source, PH_ALONE | PH_NO_RCE)), PH_OK);
  ASSERT_EQ(lone.seat().posted.size(), 1u);
  lone.ranks.net().land(0);
  lone.ranks[0].serve();
  EXPECT_EQ(lone.ranks.take(0, PH_LOCAL).status, PH_OK);
  EXPECT_TRUE(lone.has(3, 8));
}

TEST(Alone, without_a_way_it_is_not_found_and_nothing_is_sent) {
  Lone lone(options(Reach::Kind::none));
  const auto source = filled(8, 3);
  std::vector<std::byte> there(8);
  EXPECT_EQ(lone.ranks[0].put(1, lone.put(source, PH_ALONE)), PH_ERR_NOT_FOUND);
  EXPECT_NE(lone.ranks[0].last_error().what.find("PH_ALONE"), std::string::npos);
  EXPECT_NE(lone.ranks[0].last_error().what.find("rank 1"), std::string::npos);
  EXPECT_EQ(lone.ranks[0].get(1, lone.get(there, PH_ALONE)), PH_ERR_NOT_FOUND);
  lone.expect_nothing_sent();
  EXPECT_EQ(lone.ranks[0].put(1, lone.put({}, PH_ALONE)), PH_OK) << "no bytes, no way";
  EXPECT_EQ(lone.ranks.take(1, PH_REMOTE).id, lone.remote_id);
}

TEST(Alone, before_the_peer_has_met_us_it_is_again_and_not_never) {
  Two two(options(Reach::Kind::none));
  const auto source = filled(8, 3);
  EXPECT_EQ(two.ranks[0].put(1, two.put(source, PH_ALONE)), PH_AGAIN);
  two.ranks.net().way(0, 1).credits.set_met();
  EXPECT_EQ(two.ranks[0].put(1, two.put(source, PH_ALONE)), PH_ERR_NOT_FOUND);
}

TEST(Alone, a_bad_key_or_range_is_told_as_ever) {
  Lone lone(options(Reach::Kind::mapped));
  const auto source = filled(8, 3);
  ph_put_args args = lone.put(source, PH_ALONE);
  args.target.key ^= 1u << 20;
  EXPECT_EQ(lone.ranks[0].put(1, args), PH_ERR_KEY);
  args = lone.put(source, PH_ALONE);
  args.target.address += lone.region.size_bytes;
  EXPECT_EQ(lone.ranks[0].put(1, args), PH_ERR_RANGE);
  lone.expect_nothing_sent();
}

TEST(Alone, a_kernel_that_refuses_in_the_middle_ends_it_with_an_error_and_stages_nothing) {
  Lone lone(options(Reach::Kind::call));
  lone.seat().calls_left = 2;  // one piece goes
  const auto source = filled(20000, 3);
  ASSERT_EQ(lone.ranks[0].put(1, lone.put(source, PH_ALONE)), PH_OK);
  for (int i = 0; i < 20; ++i) lone.ranks.turn();
  const auto found = lone.ranks.probe(0, PH_LOCAL);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].status, PH_ERR_SYSTEM);
  EXPECT_EQ(found[0].id, lone.local_id);
  EXPECT_NE(lone.ranks[0].last_error().what.find("has gone"), std::string::npos);
  EXPECT_EQ(lone.count(1, PH_REMOTE), 0u);
  EXPECT_LT(first_difference(lone.memory.bytes().first(20000), 3), 20000u);
  EXPECT_EQ(lone.ranks[0].resource_use().requests, 0u);
}

TEST(Alone, a_get_whose_way_goes_is_not_asked_of_its_owner) {
  Lone lone(options(Reach::Kind::call));
  fill(lone.memory.bytes(), 5);
  lone.seat().calls_left = 2;
  std::vector<std::byte> there(20000);
  ASSERT_EQ(lone.ranks[0].get(1, lone.get(there, PH_ALONE)), PH_OK);
  for (int i = 0; i < 20; ++i) lone.ranks.turn();
  const auto found = lone.ranks.probe(0, PH_LOCAL);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].status, PH_ERR_SYSTEM);
  EXPECT_LT(first_difference(there, 5), 20000u);
  EXPECT_EQ(lone.count(1, PH_REMOTE), 0u);
}

TEST(Alone, our_own_nic_that_takes_no_memory_ends_it_with_an_error) {
  FakeOptions chosen = options(Reach::Kind::posted);
  chosen.local_granule = 1;
  Lone lone(chosen);
  lone.seat().locals_error = PH_ERR_SYSTEM;
  const auto source = filled(20000, 3);
  std::vector<std::byte> there(20000);
  ASSERT_EQ(lone.ranks[0].put(1, lone.put(source, PH_ALONE)), PH_OK);
  ASSERT_EQ(lone.ranks[0].get(1, lone.get(there, PH_ALONE)), PH_OK);
  for (int i = 0; i < 20; ++i) lone.ranks.turn();
  const auto found = lone.ranks.probe(0, PH_LOCAL);
  ASSERT_EQ(found.size(), 2u);
  for (const ph_completion& one : found) EXPECT_EQ(one.status, PH_ERR_SYSTEM);
  lone.expect_nothing_sent();
}

TEST(Alone, a_peer_that_dies_takes_what_is_under_way_with_it) {
  Lone lone(options(Reach::Kind::posted));
  const auto source = filled(20000, 3);
  ASSERT_EQ(lone.ranks[0].put(1, lone.put(source, PH_ALONE)), PH_OK);
  lone.seat().gone[1] = {PH_ERR_PEER, 0, "gone", 1};
  for (int i = 0; i < 4; ++i) {
    while (!lone.seat().posted.empty()) lone.ranks.net().refuse(0, PH_ERR_PEER);
    lone.ranks[0].serve();
  }
  EXPECT_EQ(lone.ranks.take(0, PH_LOCAL).status, PH_ERR_PEER);
  EXPECT_EQ(lone.ranks[0].put(1, lone.put(source, PH_ALONE)), PH_ERR_PEER);
}

TEST(Alone, a_small_source_is_the_callers_at_once_also_where_the_put_has_to_wait) {
  Lone lone(options(Reach::Kind::mapped));
  const auto large = filled(40000, 3);
  auto source = filled(8, 4);
  ASSERT_EQ(lone.ranks[0].put(1, lone.put(large)), PH_OK);
  ph_put_args args = lone.put(source, PH_ALONE);
  args.target.address += 50000;
  ASSERT_EQ(lone.ranks[0].put(1, args), PH_OK);
  EXPECT_NE(lone.ranks[0].resource_use().requests, 0u) << "neither is over";
  fill(source, 9);
  for (int i = 0; i < 20; ++i) lone.ranks.turn();
  EXPECT_EQ(first_difference(lone.memory.bytes().subspan(50000, 8), 4), 8u);
  EXPECT_EQ(lone.count(0, PH_LOCAL), 2u);
  EXPECT_EQ(lone.ranks[0].resource_use().blocks, 0u);
}

TEST(Alone, a_vectored_put_goes_whole_by_such_a_way_or_not_at_all) {
  for (const auto reach : {Reach::Kind::mapped, Reach::Kind::call, Reach::Kind::none}) {
    Lone lone(options(reach));
    const auto source = filled(300, 3);
    const ph_put_segment segments[] = {{source.data(), 100, ph_at(&lone.region, 0)},
                                       {source.data() + 100, 200, ph_at(&lone.region, 1000)}};
    Vectored what;
    what.call = "put_vector";
    what.shape = std::span<const ph_put_segment>(segments);
    what.local = id_of(lone.local_id);
    what.remote = id_of(lone.remote_id);
    what.flags = PH_ALONE;
    const ph_status status = lone.ranks[0].vectored(1, what);
    if (reach == Reach::Kind::none) {
      EXPECT_EQ(status, PH_ERR_NOT_FOUND);
      EXPECT_NE(lone.ranks[0].last_error().what.find("put_vector"), std::string::npos);
      lone.expect_nothing_sent();
      continue;
    }
    ASSERT_EQ(status, PH_OK);
    for (int i = 0; i < 20; ++i) lone.ranks[0].serve();
    EXPECT_TRUE(lone.has(3, 100));
    EXPECT_EQ(std::memcmp(lone.memory.data() + 1000, source.data() + 100, 200), 0);
    EXPECT_EQ(lone.ranks.take(1, PH_REMOTE).id, lone.remote_id);
  }
}

TEST(Alone, a_vectored_get_whose_way_goes_is_not_asked_of_its_owner) {
  Lone lone(options(Reach::Kind::call));
  fill(lone.memory.bytes(), 5);
  lone.seat().calls_left = 2;
  std::vector<std::byte> there(30000);
  const ph_get_segment segments[] = {{there.data(), 10000, ph_at(&lone.region, 0)},
                                     {there.data() + 10000, 20000, ph_at(&lone.region, 20000)}};
  Vectored what;
  what.call = "get_vector";
  what.is_get = true;
  what.shape = std::span<const ph_get_segment>(segments);
  what.local = id_of(lone.local_id);
  what.remote = id_of(lone.remote_id);
  what.flags = PH_ALONE;
  ASSERT_EQ(lone.ranks[0].vectored(1, what), PH_OK);
  for (int i = 0; i < 20; ++i) lone.ranks.turn();
  const auto found = lone.ranks.probe(0, PH_LOCAL);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].status, PH_ERR_SYSTEM);
  EXPECT_EQ(lone.count(1, PH_REMOTE), 0u);
}

}  // namespace
}  // namespace photon::engine::test
