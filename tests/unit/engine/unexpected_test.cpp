// Remote ids that have come in: who gets them, and in which order.
#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

TEST(Unexpected, an_id_that_nobody_has_probed_for_is_kept_and_comes_before_the_next) {
  Two two;
  two.remote_id = 1;
  ASSERT_EQ(two.ranks[0].put(1, two.put({})), PH_OK);
  for (int i = 0; i < 3; ++i) two.ranks[1].serve();
  EXPECT_EQ(two.ranks[1].resource_use().queued, 1u) << "it is kept";
  two.remote_id = 2;
  ASSERT_EQ(two.ranks[0].put(1, two.put({})), PH_OK);
  EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, 1u);
  EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, 2u);
  EXPECT_EQ(two.ranks[1].resource_use().queued, 0u);
}

TEST(Unexpected, ids_that_are_kept_take_ledger_credit_until_they_are_probed) {
  Two two;  // the ledger has 4
  for (std::uint64_t i = 0; i < 6; ++i) {
    two.remote_id = i;
    ASSERT_EQ(two.ranks[0].put(1, two.put({}, PH_NO_LCE)), PH_OK);
  }
  for (int i = 0; i < 50; ++i) two.ranks.turn();
  EXPECT_EQ(two.ranks[1].resource_use().queued, 4u);
  for (std::uint64_t i = 0; i < 6; ++i) EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, i);
}

TEST(Unexpected, a_jump_where_there_is_no_overflow_is_malformed) {
  Two two;
  auto& lines = two.ranks.net().way(0, 1).lines;
  lines[1].words[0].set(0);
  lines[1].arrive(wire::encode(wire::Kind::jump, wire::kNoId, 0) | 1);
  static_cast<void>(two.ranks.probe(1, PH_REMOTE));
  EXPECT_EQ(two.ranks[1].notify(0, 1), PH_ERR_PROTOCOL);
}

}  // namespace
}  // namespace photon::engine::test
