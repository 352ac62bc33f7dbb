// Moving what is queued: chunks, and the kernel's help when the peer stands still.
#include <cstring>

#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

TEST(Work, a_bulk_put_waits_for_room_and_goes_on_with_it) {
  Two two;
  const auto source = filled(60000, 7);  // seven bulk rings
  ASSERT_EQ(two.ranks[0].put(1, two.put(source)), PH_OK);
  for (int i = 0; i < 50; ++i) two.ranks[0].serve();
  EXPECT_EQ(two.count(0, PH_LOCAL), 0u) << "the source is still needed";
  EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
  EXPECT_EQ(two.ranks.take(0, PH_LOCAL).id, two.local_id);
  EXPECT_EQ(first_difference(two.memory.bytes().first(60000), 7), 60000u);
  EXPECT_TRUE(two.memory.guards_whole());
}

TEST(Work, a_stalled_put_is_finished_by_the_kernel_without_the_peer) {
  for (const std::uint32_t flags : {0u, std::uint32_t{PH_DELIVERED}}) {
    Two two(options(Reach::Kind::call));
    const auto source = filled(60000, 7);
    ASSERT_EQ(two.ranks[0].put(1, two.put(source, flags)), PH_OK);
    const auto& calls = two.ranks.net().seats[0].calls_count;
    for (int i = 0; i < 1'000'000 && calls < 8; ++i) two.ranks[0].serve();  // the peer does nothing
    EXPECT_EQ(calls, 8u) << "pieces of 4 KiB";
    EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
    EXPECT_EQ(first_difference(two.memory.bytes().first(60000), 7), 60000u);
  }
}

TEST(Work, a_stalled_put_that_the_kernel_will_not_finish_waits_for_the_peer) {
  Two two(options(Reach::Kind::call));
  auto& seat = two.ranks.net().seats[0];
  seat.writes_left = 2;
  const auto source = filled(60000, 7);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(two.ranks[0].put(1, two.put(source)), PH_OK);
    for (int turn = 0; turn < 100'000; ++turn) two.ranks[0].serve();  // the peer does nothing
    EXPECT_EQ(seat.calls_count, 3u) << "asked until it refused, and not again";
    EXPECT_EQ(two.count(0, PH_LOCAL), 0u);
    EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
    const ph_completion local = two.ranks.take(0, PH_LOCAL);
    EXPECT_EQ(local.id, two.local_id);
    EXPECT_EQ(local.status, PH_OK);
    EXPECT_EQ(first_difference(two.memory.bytes().first(60000), 7), 60000u);
    std::memset(two.memory.bytes().data(), 0, 60000);
  }
}

TEST(Work, delivered_waits_for_chunks_in_the_ring_also_if_the_kernel_copied_the_rest) {
  Two two(options(Reach::Kind::call));
  const auto source = filled(60000, 7);
  ASSERT_EQ(two.ranks[0].put(1, two.put(source, PH_DELIVERED)), PH_OK);
  for (int i = 0; i < 200'000 && two.ranks.net().seats[0].calls_count < 13; ++i)
    two.ranks[0].serve();
  for (int i = 0; i < 100; ++i) two.ranks[0].serve();
  EXPECT_EQ(two.count(0, PH_LOCAL), 0u) << "the first chunks still lie in the ring";
  EXPECT_EQ(two.ranks.take(0, PH_LOCAL).id, two.local_id);
  EXPECT_EQ(first_difference(two.memory.bytes().first(60000), 7), 60000u);
}

}  // namespace
}  // namespace photon::engine::test
