// How a rank learns that there is something to read: hot rings, doorbells, rotation.
#include "transport_harness.hpp"

namespace photon::test {
namespace {

TEST_P(TransportConformance, a_kick_at_a_cold_ring_leads_to_on_activity) {
  TransportHarness job(GetParam(), 3);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  ASSERT_TRUE(job.join(0, 2));
  for (std::uint64_t i = 0; i < 100; ++i) {
    const transport::Rank to = 1 + i % 2;
    job[to].set_cold(true);
    const unsigned before = job[to].seen(0).activities_count;
    ASSERT_TRUE(job[0].to(to).send(record_of_lines(1, i)));
    ASSERT_TRUE(job.eventually([&] { return job[to].seen(0).activities_count > before; }));
    ASSERT_TRUE(job.eventually([&] { return job[to].to(0).has_record(); }));
    ASSERT_EQ(job[to].to(0).receive(), record_of_lines(1, i));
  }
}

TEST_P(TransportConformance, a_doorbell_changes_with_every_kick_and_names_who_gave_it) {
  TransportHarness job(GetParam(), 3);
  ASSERT_TRUE(job.opened());
  const transport::LaneDoorbell* lane_doorbell = job[0].transport().lane_doorbell();
  if (lane_doorbell == nullptr) GTEST_SKIP() << "this transport has no lane doorbell";
  ASSERT_TRUE(job.join(0, 1));
  ASSERT_TRUE(job.join(0, 2));
  job[0].set_cold(true);
  for (std::uint64_t i = 0; i < 10; ++i) {
    const transport::Rank from = 1 + i % 2;
    const std::uint64_t before = lane_doorbell->get();
    ASSERT_TRUE(job[from].to(0).send(record_of_lines(1, i)));
    if (job[from].to(0).link().kick_always) {  // over a network, which has none
      EXPECT_EQ(lane_doorbell->get(), before);
    } else {
      EXPECT_NE(lane_doorbell->get(), before);
      EXPECT_EQ(lane_doorbell->get() >> transport::kDoorbellRankShift, from);
    }
    ASSERT_TRUE(job.eventually([&] { return job[0].to(from).has_record(); }));
    ASSERT_EQ(job[0].to(from).receive(), record_of_lines(1, i));
  }
}

TEST_P(TransportConformance, credits_for_a_cold_rank_lead_to_on_activity) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  ASSERT_TRUE(job[0].to(1).send(record_of_lines(1, 1)));
  ASSERT_TRUE(job.eventually([&] { return job[1].to(0).has_record(); }));
  ASSERT_TRUE(job[1].to(0).peek_and_copy());
  job[0].set_cold(true);
  const unsigned before = job[0].seen(1).activities_count;
  job[1].to(0).give_back();
  EXPECT_TRUE(job.eventually([&] { return job[0].seen(1).activities_count > before; }));
}

TEST_P(TransportConformance, any_number_of_kicks_between_two_looks_is_noticed) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  for (const unsigned kicks : {1u, 2u, 255u, 256u, 257u, 512u}) {
    job[1].set_cold(true);
    const unsigned before = job[1].seen(0).activities_count;
    ASSERT_TRUE(job[0].to(1).write(record_of_lines(1, kicks)));
    for (unsigned i = 0; i < kicks; ++i) job[0].to(1).kick();
    ASSERT_TRUE(job.eventually([&] { return job[1].seen(0).activities_count > before; }));
    ASSERT_TRUE(job.eventually([&] { return job[1].to(0).has_record(); })) << kicks << " kicks";
    ASSERT_EQ(job[1].to(0).receive(), record_of_lines(1, kicks));
  }
}

TEST_P(TransportConformance, a_hot_ring_needs_neither_kick_nor_poll) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  if (job[0].to(1).link().kick_always) GTEST_SKIP() << "this transport carries what is kicked";
  job[1].set_cold(false);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    ASSERT_TRUE(job[0].to(1).write(record_of_lines(1, i)));
    ASSERT_TRUE(job[1].to(0).has_record());
    ASSERT_EQ(job[1].to(0).receive(), record_of_lines(1, i));
  }
}

TEST_P(TransportConformance, rotation_points_at_every_link_without_a_kick) {
  TransportHarness job(GetParam(), 5);
  ASSERT_TRUE(job.opened());
  if (job[0].transport().poll_interval() == 1)
    GTEST_SKIP() << "news arrives only through kick() and poll()";
  for (transport::Rank rank = 1; rank < job.size(); ++rank) ASSERT_TRUE(job.join(0, rank));
  job.settle();
  bool is_any_kicked_seldom = false;
  for (transport::Rank rank = 1; rank < job.size(); ++rank) {
    if (job[rank].to(0).link().kick_always) continue;
    is_any_kicked_seldom = true;
    const unsigned before = job[0].seen(rank).activities_count;
    ASSERT_TRUE(job[rank].to(0).write(record_of_lines(1, rank)));
    EXPECT_TRUE(job.eventually([&] { return job[0].seen(rank).activities_count > before; }));
    EXPECT_EQ(job[0].to(rank).receive(), record_of_lines(1, rank));
  }
  EXPECT_TRUE(is_any_kicked_seldom);
}

TEST_P(TransportConformance, a_kick_without_news_or_without_a_link_is_harmless) {
  TransportHarness job(GetParam(), 3);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  for (unsigned i = 0; i < 100; ++i) {
    job[0].transport().kick(1);
    job[0].transport().kick(2);
  }
  job.settle();
  EXPECT_FALSE(job[1].to(0).has_record());
  EXPECT_EQ(job[2].seen(0).links_count, 0u);
}

}  // namespace
}  // namespace photon::test
