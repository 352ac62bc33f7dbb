// How a link comes to be: connect(), on_link(), both halves.
#include "transport_harness.hpp"

namespace photon::test {
namespace {

TEST_P(TransportConformance, connecting_from_one_side_gives_both_ranks_both_halves) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  job[0].to(1);
  ASSERT_TRUE(job.eventually([&] { return job[0].to(1).can_receive() && job[1].knows(0); }));
  EXPECT_TRUE(job[1].to(0).can_receive());
  job.settle();
  EXPECT_EQ(job[0].seen(1).links_count, 1u);
  EXPECT_EQ(job[1].seen(0).links_count, 1u);
}

TEST_P(TransportConformance, connecting_from_both_sides_gives_one_link) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  job[0].to(1);
  job[1].to(0);
  ASSERT_TRUE(job.join(0, 1));
  job.settle();
  EXPECT_EQ(job[0].seen(1).links_count, 1u);
  EXPECT_EQ(job[1].seen(0).links_count, 1u);
  ASSERT_TRUE(job[0].to(1).send(record_of_lines(1, 7)));
  ASSERT_TRUE(job.eventually([&] { return job[1].to(0).has_record(); }));
  EXPECT_EQ(job[1].to(0).receive(), record_of_lines(1, 7));
}

TEST_P(TransportConformance, a_rank_connects_to_itself) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  Channel& self = job[1].to(1);
  ASSERT_TRUE(self.send(record_of_lines(3, 1)));
  ASSERT_TRUE(self.send(bulk_record(1000, 2)));
  ASSERT_TRUE(job.eventually([&] { return self.has_record(); }));
  EXPECT_EQ(self.receive(), record_of_lines(3, 1));
  ASSERT_TRUE(job.eventually([&] { return self.has_record(); }));
  EXPECT_EQ(self.receive(), bulk_record(1000, 2));
}

TEST_P(TransportConformance, a_job_of_one_rank_works) {
  TransportHarness job(GetParam(), 1);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job[0].to(0).send(record_of_lines(1, 1)));
  ASSERT_TRUE(job.eventually([&] { return job[0].to(0).has_record(); }));
  EXPECT_EQ(job[0].to(0).receive(), record_of_lines(1, 1));
}

TEST_P(TransportConformance, connecting_again_gives_the_same_link) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  const auto first = job[0].transport().connect(1);
  ASSERT_TRUE(first) << first.error().what;
  const transport::Link before = **first;
  ASSERT_TRUE(job.join(0, 1));
  const auto again = job[0].transport().connect(1);
  ASSERT_TRUE(again);
  EXPECT_EQ(*first, *again);
  EXPECT_EQ((*again)->tx_lines, before.tx_lines);
  EXPECT_EQ((*again)->tx_credits, before.tx_credits);
  EXPECT_EQ((*again)->tx_bulk, before.tx_bulk);
}

TEST_P(TransportConformance, a_new_links_sending_half_is_complete_and_its_rings_are_empty) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  const transport::Link& link = job[0].to(1).link();
  ASSERT_NE(link.tx_lines, nullptr);
  ASSERT_NE(link.tx_credits, nullptr);
  ASSERT_NE(link.tx_bulk, nullptr);
  EXPECT_EQ(link.tx_credits->lines.load(std::memory_order_relaxed), 0u);
  EXPECT_EQ(link.tx_credits->ledger.load(std::memory_order_relaxed), 0u);
  EXPECT_EQ(link.tx_credits->bulk.load(std::memory_order_relaxed), 0u);
  ASSERT_TRUE(job.join(0, 1));
  job.settle();
  EXPECT_FALSE(job[0].to(1).has_record());
  EXPECT_FALSE(job[1].to(0).has_record());
  EXPECT_NE(job[1].to(0).link().rx_bulk, nullptr);
}

TEST_P(TransportConformance, a_full_ring_sent_before_the_peer_looked_for_the_first_time_arrives) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  std::uint64_t sent = 0;
  while (job[0].to(1).send(record_of_lines(1, sent))) ++sent;
  EXPECT_EQ(sent, job.config().ring_lines);
  for (std::uint64_t i = 0; i < sent; ++i) {
    ASSERT_TRUE(job.eventually([&] { return job[1].knows(0) && job[1].to(0).has_record(); }));
    ASSERT_EQ(job[1].to(0).receive(), record_of_lines(1, i));
  }
}

TEST_P(TransportConformance, there_is_no_link_to_a_rank_beyond_the_job) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  const auto link = job[0].transport().connect(2);
  ASSERT_FALSE(link);
  EXPECT_EQ(link.error().status, PH_ERR_RANK);
}

TEST_P(TransportConformance, ranks_nobody_connected_hear_of_nothing) {
  TransportHarness job(GetParam(), 3);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  job.settle();
  for (const transport::Rank rank : {0u, 1u}) {
    EXPECT_EQ(job[rank].seen(2).links_count, 0u);
    EXPECT_EQ(job[rank].seen(2).gone_count, 0u);
    EXPECT_EQ(job[2].seen(rank).links_count, 0u);
  }
}

TEST_P(TransportConformance, a_transport_has_a_name_and_describes_its_paths) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  EXPECT_STRNE(job[0].transport().name(), "");
  EXPECT_GE(job[0].transport().poll_interval(), 1u);
  for (const bool joined : {false, true}) {
    if (joined) {
      ASSERT_TRUE(job.join(0, 1));
    }
    for (const transport::Rank rank : {0u, 1u}) {
      ph_path path = {};
      path.size = sizeof path;
      job[0].transport().describe(rank, path);
      EXPECT_STRNE(path.reason, "") << "rank " << rank;
      EXPECT_LT(std::strlen(path.reason), sizeof path.reason);
    }
  }
}

}  // namespace
}  // namespace photon::test
