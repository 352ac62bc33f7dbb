// Puts that are over when they return: when they may be, and that they leave nothing under way.
#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

TEST(PutNow, a_put_with_room_and_credit_is_complete_at_once_by_each_way) {
  for (const std::size_t size : {0ul, 8ul, 192ul, 193ul, 4095ul, 4096ul}) {
    Two two(options(Reach::Kind::mapped));
    const auto source = filled(size, 6);
    ASSERT_EQ(two.ranks[0].put(1, two.put(source)), PH_OK);
    const ph_completion local = two.ranks.take(0, PH_LOCAL);
    EXPECT_EQ(local.id, two.local_id) << size;
    EXPECT_EQ(local.outstanding, 0u) << "nothing is left under way for " << size << " bytes";
    EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
    EXPECT_EQ(first_difference(two.memory.bytes().first(size), 6), size);
  }
}

TEST(PutNow, a_put_behind_one_without_credit_does_not_overtake_it) {
  Two two;
  std::uint64_t posted = 0;
  // More ids than any ledger of these tests holds: the last ones queue.
  for (; posted < 40; ++posted)
    ASSERT_EQ(two.ranks[0].put_u64(1, {&posted, 8}, ph_at(&two.region, 0), {posted, posted}),
              PH_OK);
  for (std::uint64_t id = 0; id < posted; ++id) EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, id);
}

}  // namespace
}  // namespace photon::engine::test
