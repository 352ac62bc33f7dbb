#include <gtest/gtest.h>

#include "schedule_cases.hpp"

namespace photon::schedule {
namespace {

TEST(Exchanges, partners_in_pairs_exchange_all_blocks) {
  EXPECT_GT((EveryCase{Kind::alltoall, Algorithm::pairwise, 11, true}.play()), 0U);
}

TEST(Exchanges, four_partners_at_a_time_exchange_all_blocks) {
  EXPECT_GT((EveryCase{Kind::alltoall, Algorithm::linear, 11, true}.play()), 0U);
}

TEST(Exchanges, blocks_of_any_number_of_members_travel_in_few_rounds) {
  EXPECT_GT((EveryCase{Kind::alltoall, Algorithm::bruck, 13, false}.play()), 0U);
}

TEST(Exchanges, blocks_may_be_shorter_than_their_room) {
  for (const Algorithm algorithm : {Algorithm::linear, Algorithm::pairwise})
    for (std::uint32_t size = 2; size < 20; ++size) {
      ScheduleCase played({.kind = Kind::alltoall,
                           .algorithm = algorithm,
                           .size = size,
                           .is_v = true,
                           .more_room = 2});
      EXPECT_EQ(played.play(size), "");
    }
}

}  // namespace
}  // namespace photon::schedule
