#include <gtest/gtest.h>

#include "schedule_cases.hpp"

namespace photon::schedule {
namespace {

TEST(Chains, a_broadcast_in_segments_reaches_all_members) {
  EXPECT_GT((EveryCase{Kind::bcast, Algorithm::chain, 11, false}.play()), 0U);
}

TEST(Chains, a_reduction_along_the_chain_is_that_of_a_loop) {
  EXPECT_GT((EveryCase{Kind::reduce, Algorithm::chain, 11, false}.play()), 0U);
}

TEST(Chains, an_allreduce_along_the_chain_is_that_of_a_loop) {
  EXPECT_GT((EveryCase{Kind::allreduce, Algorithm::chain, 11, false}.play()), 0U);
}

TEST(Chains, a_scan_along_the_chain_is_that_of_a_loop) {
  EXPECT_GT((EveryCase{Kind::scan, Algorithm::chain, 11, false}.play()), 0U);
}

TEST(Chains, an_exclusive_scan_along_the_chain_is_that_of_a_loop) {
  EXPECT_GT((EveryCase{Kind::exscan, Algorithm::chain, 11, false}.play()), 0U);
}

TEST(Chains, a_chain_ends_where_each_phase_waits_for_all_sends) {
  for (const Kind kind : {Kind::bcast, Kind::reduce, Kind::allreduce, Kind::scan, Kind::exscan})
    EXPECT_GT((EveryCase{kind, Algorithm::chain, 12, false, true}.play()), 0U);
}

TEST(Chains, a_chain_needs_no_more_memory_for_a_longer_vector) {
  Call call{.kind = Kind::reduce, .algorithm = Algorithm::chain, .size = 5, .rank = 2};
  call.segment = 1000;
  call.count = 1'000'000;
  const std::uint64_t temp = temp_of(call);
  call.count = 50'000'000;
  EXPECT_EQ(temp_of(call), temp);
}

TEST(Chains, a_vector_has_at_most_65536_segments) {
  Call call{.kind = Kind::bcast, .algorithm = Algorithm::chain, .size = 3, .rank = 1};
  call.segment = 1;
  call.count = UINT64_MAX;
  EXPECT_EQ(phases_of(call), 65536U + 1);
  Phase phase;
  phase_at(call, 65536, phase);
  ASSERT_EQ(phase.count, 1U);
  EXPECT_EQ(phase.steps[0].tag, 65535U);
  EXPECT_EQ(phase.steps[0].from.first + phase.steps[0].from.count, UINT64_MAX);
}

}  // namespace
}  // namespace photon::schedule
