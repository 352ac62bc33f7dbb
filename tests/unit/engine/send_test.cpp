// Writing records: credits, laps and long ids.
#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

TEST(Send, records_of_every_size_survive_many_laps_of_the_ring) {
  FakeOptions chosen = options();
  chosen.config.max_cid_size = 1024;
  Two two(chosen);
  for (std::uint32_t i = 0; i < 3000; ++i) {
    const std::uint32_t id_bytes = i * 37 % 1025;
    const std::size_t size = i * 13 % 193;
    const auto id = filled(id_bytes, i);
    const auto source = filled(size, i);
    ph_put_args args = two.put(source, PH_NO_LCE);
    args.remote = {id.data(), id_bytes};
    ASSERT_EQ(two.ranks[0].put(1, args), PH_OK);
    const ph_completion one = two.ranks.take(1, PH_REMOTE);
    ASSERT_EQ(one.id_size_bytes, id_bytes);
    const void* bytes = one.long_id != nullptr ? one.long_id : &one.id;
    ASSERT_EQ(first_difference({static_cast<const std::byte*>(bytes), id_bytes}, i), id_bytes);
    ASSERT_EQ(first_difference(two.memory.bytes().first(size), i), size);
  }
}

TEST(Send, a_receiver_that_moves_nothing_gets_no_more_than_its_ring_and_its_ledger_hold) {
  FakeOptions chosen = options();
  chosen.config.ledger_slots = 1024;
  Two two(chosen);
  std::uint64_t accepted = 0;
  for (; two.ranks[0].put(1, two.put({}, PH_NO_LCE)) == PH_OK; ++accepted) {
    ASSERT_LT(accepted, 1000u);
  }
  EXPECT_GE(accepted, 64u);
  EXPECT_LE(accepted, 64u + 64u) << "lines and requests";
  for (std::uint64_t i = 0; i < accepted; ++i) two.ranks.take(1, PH_REMOTE);
  for (int i = 0; i < 200; ++i) two.ranks.turn();
  EXPECT_EQ(two.count(1, PH_REMOTE), 0u);
}

TEST(Send, a_cold_ring_is_rung_and_a_hot_one_is_not) {
  Two two;
  const auto kicks = [&] { return two.ranks.net().seats[0].kicks_count; };
  auto& credits = two.ranks.net().way(0, 1).credits;
  credits.set_cold(false);
  auto before = kicks();
  ASSERT_EQ(two.ranks[0].put_u64(1, {nullptr, 0}, {}, {1, 1}), PH_OK);
  EXPECT_EQ(kicks(), before);
  credits.set_cold(true);
  before = kicks();
  ASSERT_EQ(two.ranks[0].put(1, two.put({})), PH_OK);
  EXPECT_EQ(kicks(), before + 1);
}

}  // namespace
}  // namespace photon::engine::test
