// Lanes of one rank: transports that share its memory and nothing else.
#include "transport_harness.hpp"

namespace photon::test {
namespace {

using transport::Reach;

// Ranks 0 and 1 with lane 3, met on it.
struct Lanes {
  explicit Lanes(TransportHarness& harness)
      : job(harness), a(job.open_lane(0, 3)), b(job.open_lane(1, 3)) {
    a->to(1);
    met = job.eventually([&] { return b->knows(0) && a->to(1).can_receive(); });
  }
  TransportHarness& job;
  std::shared_ptr<Peer> a;
  std::shared_ptr<Peer> b;
  bool met = false;
};

TEST_P(TransportConformance, a_lane_carries_its_own_records_and_no_others) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  Lanes lanes(job);
  ASSERT_TRUE(lanes.met);
  const Record for_lane = record_of_lines(3, 1), for_rank = record_of_lines(2, 2);
  ASSERT_TRUE(lanes.a->to(1).send(for_lane));
  ASSERT_TRUE(job[0].to(1).send(for_rank));
  ASSERT_TRUE(
      job.eventually([&] { return lanes.b->to(0).has_record() && job[1].to(0).has_record(); }));
  EXPECT_EQ(*lanes.b->to(0).receive(), for_lane);
  EXPECT_EQ(*job[1].to(0).receive(), for_rank);
  EXPECT_FALSE(lanes.b->to(0).has_record());
  EXPECT_FALSE(job[1].to(0).has_record());
}

TEST_P(TransportConformance, lanes_share_the_arena_and_the_region_table) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  Lanes lanes(job);
  ASSERT_TRUE(lanes.met);
  EXPECT_EQ(lanes.b->transport().arena().data(), job[1].transport().arena().data());
  ASSERT_EQ(lanes.b->transport().regions().data(), job[1].transport().regions().data());
  const transport::RegionEntry* seen = lanes.a->to(1).link().peer_regions;
  if (seen == nullptr) GTEST_SKIP() << "only the owner can check keys";
  sync::RegionView view;
  job[1].transport().regions()[4].publish(0xab00 + 4, {0x1000, 10, 3});
  EXPECT_TRUE(seen[4].read(0xab00 + 4, view));
}

TEST_P(TransportConformance, a_message_wakes_the_lane_that_it_is_for) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  Lanes lanes(job);
  ASSERT_TRUE(lanes.met);
  std::thread sleeper([&] { lanes.b->wait_until([&] { return lanes.b->to(0).has_record(); }); });
  ASSERT_TRUE(lanes.a->to(1).send(record_of_lines(1, 1)));
  sleeper.join();
  EXPECT_TRUE(lanes.b->to(0).has_record());
}

// The memory itself stays: other lanes reach it.
TEST_P(TransportConformance, what_is_hidden_is_reached_by_nobody_on_that_lane) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  Lanes lanes(job);
  ASSERT_TRUE(lanes.met);
  std::uint64_t word = 0;
  const auto reach = [&](Peer& peer) {
    return peer.transport().reach(1, reinterpret_cast<std::uintptr_t>(&word), sizeof word).kind;
  };
  const auto way = reach(job[0]);
  if (way == Reach::Kind::none || way == Reach::Kind::posted)
    GTEST_SKIP() << "nobody copies in a peer's memory by itself";
  ASSERT_TRUE(job.eventually([&] { return reach(*lanes.a) == way; }));
  lanes.b->transport().hide();
  EXPECT_EQ(reach(*lanes.a), Reach::Kind::none);
  EXPECT_EQ(reach(job[0]), way);
}

TEST_P(TransportConformance, the_end_of_a_lane_ends_nothing_else_and_its_place_is_used_again) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  for (std::uint32_t number = 10; number < 30; ++number) {  // more than max_lanes
    const auto a = job.open_lane(0, number), b = job.open_lane(1, number);
    a->to(1);
    ASSERT_TRUE(job.eventually([&] { return b->knows(0) && a->to(1).can_receive(); })) << number;
    ASSERT_TRUE(a->to(1).send(record_of_lines(1, number)));
    ASSERT_TRUE(job.eventually([&] { return b->to(0).has_record(); })) << number;
  }
  ASSERT_TRUE(job[0].to(1).send(record_of_lines(1, 1)));
  EXPECT_TRUE(job.eventually([&] { return job[1].to(0).has_record(); }));
  EXPECT_EQ(job[0].seen(1).gone_count, 0u);
}

}  // namespace
}  // namespace photon::test
