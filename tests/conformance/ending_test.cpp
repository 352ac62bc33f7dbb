// Disconnecting, leaving, and what remains.
#include <cerrno>
#include <string_view>

#include "transport_harness.hpp"

namespace photon::test {
namespace {

// Everybody is linked with everybody and has sent until nothing fits.
void fill_all_rings(TransportHarness& job) {
  for (transport::Rank from = 0; from < job.size(); ++from) {
    for (transport::Rank to = 0; to < job.size(); ++to) {
      if (to != from) {
        ASSERT_TRUE(job.join(from, to));
      }
    }
  }
  for (transport::Rank from = 0; from < job.size(); ++from) {
    for (transport::Rank to = 0; to < job.size(); ++to) {
      if (to == from) continue;
      while (job[from].to(to).send(bulk_record(500, from))) continue;
      while (job[from].to(to).send(record_of_lines(1, from))) continue;
    }
  }
}

TEST_P(TransportConformance, everything_handed_over_has_left_before_long) {
  TransportHarness job(GetParam(), 3);
  ASSERT_TRUE(job.opened());
  fill_all_rings(job);
  for (transport::Rank rank = 0; rank < job.size(); ++rank)
    EXPECT_TRUE(job.eventually([&] { return job[rank].transport().drained(); }));
}

TEST_P(TransportConformance, who_is_cut_off_is_told_so_and_why) {
  if (std::string_view(GetParam().name).starts_with("sim"))
    GTEST_SKIP() << "a simulated network tells nobody";
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  job[0].transport().cut_off(1, "it said nonsense");
  // By ofi after a second in which nothing came; the limit is the watchdog's.
  while (job[1].seen(0).gone_count == 0) job.settle();
  const base::Error& why = job[1].seen(0).why;
  EXPECT_EQ(why.status, PH_ERR_PEER);
  EXPECT_EQ(why.native_errno, ECONNABORTED);
  EXPECT_NE(why.what.find("rank 0 has cut this rank off"), std::string::npos) << why.what;
  EXPECT_NE(why.what.find("it said nonsense"), std::string::npos) << why.what;
}

TEST_P(TransportConformance, records_of_a_rank_that_has_ended_stay_readable) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  for (std::uint64_t i = 0; i < 10; ++i) ASSERT_TRUE(job[0].to(1).send(bulk_record(300, i)));
  ASSERT_TRUE(job.eventually([&] { return job[0].transport().drained(); }));
  job.end(0);
  for (std::uint64_t i = 0; i < 10; ++i) {
    ASSERT_TRUE(job.eventually([&] { return job[1].to(0).has_record(); }));
    ASSERT_EQ(job[1].to(0).receive(), bulk_record(300, i));
  }
  job.settle();
  EXPECT_FALSE(job[1].to(0).has_record());
}

TEST_P(TransportConformance, records_of_a_rank_that_ended_before_anybody_looked_arrive) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  for (std::uint64_t i = 0; i < 10; ++i) ASSERT_TRUE(job[0].to(1).send(bulk_record(300, i)));
  if (!job[0].transport().drained()) {
    const std::string_view name = GetParam().name;
    ASSERT_TRUE(name.starts_with("tcp") || name.starts_with("ofi") || name == "mixed" ||
                name == "mixed_ofi");
    GTEST_SKIP() << "nothing leaves before there is a connection, which needs both ranks";
  }
  job.end(0);
  for (std::uint64_t i = 0; i < 10; ++i) {
    ASSERT_TRUE(job.eventually([&] { return job[1].knows(0) && job[1].to(0).has_record(); }));
    ASSERT_EQ(job[1].to(0).receive(), bulk_record(300, i));
  }
}

TEST_P(TransportConformance, the_end_of_a_rank_is_reported_once_to_those_who_know_it) {
  TransportHarness job(GetParam(), 3);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  job.end(0);
  ASSERT_TRUE(job.eventually([&] { return job[1].seen(0).gone_count > 0; }));
  job.settle();
  EXPECT_EQ(job[1].seen(0).gone_count, 1u);
  EXPECT_EQ(job[1].seen(0).why.status, PH_ERR_PEER);
  EXPECT_EQ(job[1].seen(0).why.rank, 0u);
  EXPECT_NE(job[1].seen(0).why.what, "");
  EXPECT_EQ(job[1].seen(2).gone_count, 0u);
}

TEST_P(TransportConformance, sending_to_a_rank_that_has_ended_is_harmless) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  job.end(0);
  for (unsigned i = 0; i < 10; ++i) {
    job[1].to(0).send(bulk_record(500, i));
    job[1].transport().kick(0);
    job[1].poll();
  }
  job[1].disconnect(0);
  job.settle();
}

TEST_P(TransportConformance, contacting_a_rank_that_has_ended_is_an_error_now_or_at_a_poll) {
  TransportHarness job(GetParam(), 3);
  ASSERT_TRUE(job.opened());
  job.end(2);
  const auto link = job[0].transport().connect(2);
  if (!link) {
    EXPECT_EQ(link.error().status, PH_ERR_PEER);
  } else {
    EXPECT_TRUE(job.eventually([&] { return job[0].seen(2).gone_count == 1; }));
  }
}

// A link whose memory was kept for longer is let go by whatever another rank's end brings.
TEST_P(TransportConformance, a_rank_that_has_gone_may_be_disconnected_in_the_news_of_another_one) {
  for (const bool at_once : {false, true}) {
    TransportHarness job(GetParam(), 4);
    ASSERT_TRUE(job.opened());
    for (const transport::Rank rank : {1u, 2u, 3u}) ASSERT_TRUE(job.join(0, rank));
    std::vector<transport::Rank> gone;
    job[0].at_gone = [&](transport::Rank rank) {
      gone.push_back(rank);
      if (gone.size() == 2) job[0].disconnect(gone.front());
    };
    for (const transport::Rank rank : {1u, 2u, 3u})
      for (std::uint64_t i = 0; i < 5; ++i) ASSERT_TRUE(job[rank].to(0).send(bulk_record(300, i)));
    for (const transport::Rank rank : {1u, 2u}) {
      ASSERT_TRUE(job.eventually([&] { return job[rank].transport().drained(); }));
      job.end(rank);
      if (!at_once) {
        ASSERT_TRUE(job.eventually([&] { return gone.size() == rank; }));
      }
    }
    ASSERT_TRUE(job.eventually([&] { return gone.size() == 2; }));
    EXPECT_FALSE(job[0].transport().connect(gone.front()));
    for (const transport::Rank rank : {gone.back(), transport::Rank{3}})
      for (std::uint64_t i = 0; i < 5; ++i) {
        ASSERT_TRUE(job.eventually([&] { return job[0].to(rank).has_record(); }));
        ASSERT_EQ(job[0].to(rank).receive(), bulk_record(300, i));
      }
    job[0].disconnect(gone.back());
    job.settle();
    EXPECT_EQ(job[0].seen(3).gone_count, 0u);
  }
}

TEST_P(TransportConformance, disconnecting_leaves_other_links_alone) {
  TransportHarness job(GetParam(), 3);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  ASSERT_TRUE(job.join(0, 2));
  job[0].disconnect(1);
  for (std::uint64_t i = 0; i < 500; ++i) {
    ASSERT_TRUE(job.eventually([&] { return job[0].to(2).send(record_of_lines(1, i)); }));
    ASSERT_TRUE(job.eventually([&] { return job[2].to(0).has_record(); }));
    ASSERT_EQ(job[2].to(0).receive(), record_of_lines(1, i));
  }
}

TEST_P(TransportConformance, who_was_disconnected_may_go_on_sending_and_reading) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  for (std::uint64_t i = 0; i < 5; ++i) ASSERT_TRUE(job[0].to(1).send(record_of_lines(2, i)));
  job[0].disconnect(1);
  const unsigned before = job[0].seen(1).activities_count;
  for (std::uint64_t i = 0; i < 5; ++i) {
    ASSERT_TRUE(job.eventually([&] { return job[1].to(0).has_record(); }));
    ASSERT_EQ(job[1].to(0).receive(), record_of_lines(2, i));
  }
  job[1].to(0).give_back();
  while (job[1].to(0).send(record_of_lines(1, 0))) continue;
  job.settle();
  EXPECT_EQ(job[0].seen(1).activities_count, before) << "the engine has forgotten that rank";
  EXPECT_EQ(job[0].seen(1).links_count, 1u);
}

TEST_P(TransportConformance, disconnecting_is_for_ever_for_who_does_it) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  job[0].disconnect(1);
  job[0].disconnect(1);
  const auto again = job[0].transport().connect(1);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().status, PH_ERR_PEER);
  EXPECT_EQ(again.error().rank, 1u);
  EXPECT_TRUE(job[1].transport().connect(0)) << "the other side still has its link";
}

TEST_P(TransportConformance, a_rank_that_has_ended_can_be_disconnected_while_that_is_told) {
  TransportHarness job(GetParam(), 3);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  ASSERT_TRUE(job.join(0, 2));
  job[0].at_gone = [&](transport::Rank rank) { job[0].disconnect(rank); };
  for (std::uint64_t i = 0; i < 10; ++i) ASSERT_TRUE(job[0].to(1).send(bulk_record(300, i)));
  job.end(1);
  ASSERT_TRUE(job.eventually([&] { return job[0].seen(1).gone_count == 1; }));
  EXPECT_FALSE(job[0].transport().connect(1));
  ASSERT_TRUE(job[2].to(0).send(record_of_lines(2, 5)));
  ASSERT_TRUE(job.eventually([&] { return job[0].to(2).has_record(); }));
  EXPECT_EQ(job[0].to(2).receive(), record_of_lines(2, 5));
  job.settle();
  EXPECT_EQ(job[0].seen(1).gone_count, 1u);
}

TEST_P(TransportConformance, disconnecting_a_rank_never_contacted_changes_nothing) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  job[0].disconnect(1);
  EXPECT_TRUE(job.join(0, 1));
}

TEST_P(TransportConformance, disconnecting_before_the_peer_answered_is_harmless) {
  TransportHarness job(GetParam(), 3);
  ASSERT_TRUE(job.opened());
  job[0].to(1);
  job[0].disconnect(1);
  job[0].disconnect(2);
  job.settle();
  EXPECT_FALSE(job[0].knows(1));
  job[1].to(2);
  EXPECT_TRUE(job.join(1, 2));
}

TEST_P(TransportConformance, transports_end_in_any_order_with_full_rings) {
  std::vector<transport::Rank> order = {0, 1, 2};
  do {
    TransportHarness job(GetParam(), 3);
    ASSERT_TRUE(job.opened());
    fill_all_rings(job);
    for (const transport::Rank rank : order) {
      job.end(rank);
      for (transport::Rank other = 0; other < job.size(); ++other)
        if (std::find(order.begin(), std::find(order.begin(), order.end(), rank) + 1, other) ==
            std::find(order.begin(), order.end(), rank) + 1)
          job[other].poll();
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_P(TransportConformance, transports_end_while_others_send_to_them) {
  for (std::uint64_t round = 0; round < 20; ++round) {
    TransportHarness job(GetParam(), 3);
    ASSERT_TRUE(job.opened());
    job.on_threads([&](transport::Rank rank) {
      Random random(round * 8 + rank);
      const std::uint64_t steps = random.up_to(300);
      for (std::uint64_t i = 0; i < steps; ++i) {
        const auto to = static_cast<transport::Rank>(random.up_to(job.size() - 1));
        if (!job[rank].knows(to) && !job[rank].transport().connect(to)) continue;  // has ended
        job[rank].to(to).send(random_record(random.next(), job.config().bulk_chunk));
        job[rank].to(to).receive();
        job[rank].poll();
      }
      job.end(rank);
    });
  }
}

}  // namespace
}  // namespace photon::test
