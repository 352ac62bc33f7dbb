#include <gtest/gtest.h>

#include "schedule_cases.hpp"

namespace photon::schedule {
namespace {

TEST(Rings, an_allreduce_around_a_ring_gives_all_members_the_same_bits) {
  EXPECT_GT((EveryCase{Kind::allreduce, Algorithm::ring, 11, false}.play()), 0U);
}

TEST(Rings, sums_of_blocks_end_at_their_members) {
  EXPECT_GT((EveryCase{Kind::reduce_scatter, Algorithm::ring, 11, false}.play()), 0U);
}

TEST(Rings, parts_of_a_broadcast_go_around) {
  EXPECT_GT((EveryCase{Kind::bcast, Algorithm::scatter_allgather, 11, false}.play()), 0U);
}

TEST(Rings, a_longer_ring_needs_no_more_memory) {
  Call call{.kind = Kind::reduce_scatter, .algorithm = Algorithm::ring, .size = 16, .count = 10};
  const std::uint64_t temp = temp_of(call);
  call.size = 1025;
  EXPECT_EQ(temp_of(call), temp);
}

TEST(Rings, sums_around_a_ring_keep_no_order) {
  for (const Kind kind : {Kind::allreduce, Kind::reduce_scatter}) {
    Call call{.kind = kind, .algorithm = Algorithm::ring, .size = 4};
    EXPECT_TRUE(knows(call));
    call.keeps_order = true;
    EXPECT_FALSE(knows(call));
  }
}

}  // namespace
}  // namespace photon::schedule
