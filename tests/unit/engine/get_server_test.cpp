// Gets that the owner answers: limits, interleaving, and keys that go meanwhile.
#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

TEST(Serve, many_gets_at_once_land_whole_each_in_its_place) {
  FakeOptions chosen = options();
  chosen.config.requests = 256;
  Two two(chosen);
  fill(two.memory.bytes(), 1);
  constexpr std::size_t kCount = 150;  // more than the 64 that may be asked for at once
  std::vector<std::vector<std::byte>> landings(kCount, std::vector<std::byte>(700));
  for (std::uint64_t i = 0; i < kCount; ++i) {
    two.local_id = i;
    ph_get_args args = two.get(landings[i], PH_NO_RCE);
    args.source.address += i * 100;
    ASSERT_EQ(two.ranks[0].get(1, args), PH_OK);
  }
  for (std::uint64_t i = 0; i < kCount; ++i) EXPECT_EQ(two.ranks.take(0, PH_LOCAL).id, i);
  for (std::uint64_t i = 0; i < kCount; ++i)
    EXPECT_EQ(std::memcmp(landings[i].data(), two.memory.data() + i * 100, 700), 0) << i;
}

TEST(Serve, the_owner_refuses_what_its_keys_do_not_grant) {
  struct Wrong {
    std::uint64_t key_change, address_change;
    ph_status wanted;
  };
  for (const Wrong& wrong : {Wrong{1ull << 40, 0, PH_ERR_KEY}, Wrong{0, 70000, PH_ERR_RANGE},
                             Wrong{0, ~0ull, PH_ERR_RANGE}}) {
    Two two(options(Reach::Kind::none, false));
    std::vector<std::byte> landing(100);
    ph_get_args args = two.get(landing);
    args.source.key ^= wrong.key_change;
    args.source.address += wrong.address_change;
    ASSERT_EQ(two.ranks[0].get(1, args), PH_OK);
    const ph_completion done = two.ranks.take(0, PH_LOCAL);
    EXPECT_EQ(done.status, wrong.wanted);
    EXPECT_EQ(done.id, two.local_id);
    EXPECT_EQ(two.count(1, PH_REMOTE), 0u);
    EXPECT_NE(two.ranks[0].last_error().what.find("get of 100 bytes"), std::string::npos);
  }
}

TEST(Serve, gets_of_both_ranks_from_each_other_do_not_wait_for_each_other) {
  Two two;
  std::vector<std::byte> other = filled(30000, 5), mine(30000), its(30000);
  fill(two.memory.bytes(), 6);
  const ph_region back = two.ranks.add(0, other);
  ASSERT_EQ(two.ranks[0].get(1, two.get(mine)), PH_OK);
  ASSERT_EQ(two.ranks[1].get(0, get_args(its, ph_at(&back, 0), two.local_id, two.remote_id)),
            PH_OK);
  two.ranks.take(0, PH_LOCAL);
  two.ranks.take(1, PH_LOCAL);
  EXPECT_EQ(first_difference(mine, 6), mine.size());
  EXPECT_EQ(first_difference(its, 5), its.size());
}

}  // namespace
}  // namespace photon::engine::test
