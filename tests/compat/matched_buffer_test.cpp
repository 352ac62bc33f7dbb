// Rendezvous with any rank, with ranks that leave or die, and what is refused.
#include <atomic>

#include "classic_job.hpp"

namespace photon::test {
namespace {

class MatchedBuffers : public OverGrounds {};
INSTANTIATE_TEST_SUITE_P(grounds, MatchedBuffers, testing::Values(Ground::shm, Ground::sim),
                         ground_name);

constexpr std::uint64_t kOfAnySize = static_cast<std::uint64_t>(PHOTON_ANY_SIZE);
constexpr int kFromAny = PHOTON_ANY_SOURCE;

TEST_P(MatchedBuffers, any_source_meets_the_buffers_of_all_ranks) {
  ClassicJob job(4, GetParam());
  job.run([&](int rank) {
    std::vector<unsigned char> bytes(500);
    photon_rid rid = 0;
    if (rank != 0) {
      fill(bytes.data(), 500, static_cast<std::uint64_t>(rank));
      ASSERT_EQ(photon_post_send_buffer_rdma(0, bytes.data(), 500, rank, &rid), PHOTON_OK);
      EXPECT_EQ(photon_wait(rid), PHOTON_OK);
    }
    for (int i = 1; rank == 0 && i < 4; ++i) {
      photon_status_t status{};
      int flag = 0;
      ASSERT_EQ(photon_wait_send_buffer_rdma(kFromAny, 500, PHOTON_ANY_TAG, &rid), PHOTON_OK);
      ASSERT_EQ(photon_post_os_get(rid, kFromAny, bytes.data(), 500, 0, 0), PHOTON_OK);
      while (flag == 0) ASSERT_EQ(photon_test(rid, &flag, nullptr, &status), 0);
      const std::uint64_t owner = status.src_addr.global.proc_id;
      EXPECT_EQ(status.tag, static_cast<int>(owner));
      EXPECT_EQ(first_wrong(bytes.data(), 500, owner), 500u);
      EXPECT_EQ(photon_send_FIN(rid, static_cast<int>(owner), PHOTON_REQ_COMPLETED), PHOTON_OK);
    }
    job.meet();
  });
}

TEST_P(MatchedBuffers, a_send_request_says_who_wants_to_send) {
  ClassicJob job(3, GetParam());
  job.run([&](int rank) {
    photon_rid rid = 0;
    if (rank != 0) {
      ASSERT_EQ(photon_post_send_request_rdma(0, 64, rank, &rid), PHOTON_OK);
      EXPECT_EQ(photon_wait(rid), PHOTON_OK);  // over when it was said
    } else {
      EXPECT_EQ(photon_wait_send_request_rdma(2), 2);
      EXPECT_EQ(photon_wait_send_request_rdma(PHOTON_ANY_TAG), 1);
    }
    job.meet();
  });
}

TEST_P(MatchedBuffers, a_receive_buffer_for_any_source_goes_to_a_rank_that_asked) {
  ClassicJob job(3, GetParam());
  job.run([&](int rank) {
    std::vector<unsigned char> bytes(1000);
    photon_rid rid = 0;
    if (rank == 0) {
      for (int i = 1; i < 3; ++i) {
        ASSERT_EQ(photon_post_recv_buffer_rdma(kFromAny, bytes.data(), 1000, 9, &rid), PHOTON_OK);
        ASSERT_EQ(photon_wait(rid), PHOTON_OK);
        EXPECT_EQ(first_wrong(bytes.data(), 1000, 6), 1000u);
        std::memset(bytes.data(), 0, 1000);
      }
    } else {
      fill(bytes.data(), 1000, 6);
      ASSERT_EQ(photon_post_send_request_rdma(0, 1000, 9, nullptr), PHOTON_OK);
      ASSERT_EQ(photon_wait_recv_buffer_rdma(0, kOfAnySize, 9, &rid), PHOTON_OK);
      ASSERT_EQ(photon_post_os_put(rid, 0, bytes.data(), 1000, 9, 0), PHOTON_OK);
      ASSERT_EQ(photon_send_FIN(rid, 0, PHOTON_REQ_NIL), PHOTON_OK);
      ASSERT_EQ(photon_wait(rid), PHOTON_OK);
    }
    job.meet();
  });
}

TEST_P(MatchedBuffers, a_look_at_the_ledger_takes_nothing) {
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    unsigned char bytes[300] = {};
    photon_rid rid = 0;
    int flag = 9;
    photon_status_t status{};
    if (rank == 0) {
      for (const int tag : {4, 5}) {
        ASSERT_EQ(photon_post_recv_buffer_rdma(1, bytes, 300, tag, nullptr), PHOTON_OK);
      }
      job.meet();
      ASSERT_EQ(photon_post_send_request_rdma(1, 70, 6, nullptr), PHOTON_OK);
    } else {
      while (photon_probe_ledger(kFromAny, &flag, PHOTON_RECV_LEDGER, &status) != PHOTON_OK)
        EXPECT_EQ(flag, 0);
      for (const int proc : {0, kFromAny}) {
        EXPECT_EQ(photon_probe_ledger(proc, &flag, PHOTON_RECV_LEDGER, &status), PHOTON_OK);
        EXPECT_EQ(flag, 1);
        EXPECT_EQ(status.src_addr.global.proc_id, 0u);
        EXPECT_EQ(status.size, 300u);
        EXPECT_EQ(status.tag, 4);
      }
      EXPECT_EQ(photon_probe_ledger(0, &flag, PHOTON_SEND_LEDGER, nullptr), PHOTON_ERROR);
      EXPECT_EQ(flag, 0);
      EXPECT_EQ(photon_probe_ledger(0, &flag, 7, nullptr), PHOTON_ERROR);
      for (const int tag : {5, 4}) {
        ASSERT_EQ(photon_wait_recv_buffer_rdma(0, 300, tag, &rid), PHOTON_OK);
        ASSERT_EQ(photon_send_FIN(rid, 0, PHOTON_REQ_COMPLETED), PHOTON_OK);
      }
      EXPECT_EQ(photon_probe_ledger(0, &flag, PHOTON_RECV_LEDGER, nullptr), PHOTON_ERROR);
      job.meet();
      while (photon_probe_ledger(0, &flag, PHOTON_SEND_LEDGER, &status) != PHOTON_OK)
        EXPECT_EQ(flag, 0);
      EXPECT_EQ(status.size, 70u);
      EXPECT_EQ(photon_wait_send_request_rdma(6), 0);
      EXPECT_EQ(photon_probe_ledger(0, &flag, PHOTON_SEND_LEDGER, &status), PHOTON_ERROR);
    }
    job.meet();
  });
}

TEST_P(MatchedBuffers, bad_ranks_unknown_rids_and_null_pointers_are_errors) {
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    unsigned char word[8] = {};
    photon_rid rid = 9, none = 0;
    for (const int proc : {2, -5, 1 << 30}) {
      EXPECT_EQ(photon_post_recv_buffer_rdma(proc, word, 8, 0, &rid), PHOTON_ERROR);
      EXPECT_EQ(rid, 0u);
      EXPECT_EQ(photon_post_send_buffer_rdma(proc, word, 8, 0, &rid), PHOTON_ERROR);
      EXPECT_EQ(photon_post_send_request_rdma(proc, 8, 0, &rid), PHOTON_ERROR);
      EXPECT_EQ(photon_wait_recv_buffer_rdma(proc, 8, 0, &rid), PHOTON_ERROR);
      EXPECT_EQ(photon_wait_send_buffer_rdma(proc, 8, 0, &rid), PHOTON_ERROR);
    }
    EXPECT_EQ(photon_post_send_buffer_rdma(kFromAny, word, 8, 0, &rid), PHOTON_ERROR);
    EXPECT_EQ(photon_post_recv_buffer_rdma(1 - rank, nullptr, 8, 0, &rid), PHOTON_ERROR);
    EXPECT_EQ(photon_wait_recv_buffer_rdma(1 - rank, 8, 0, nullptr), PHOTON_ERROR);
    EXPECT_EQ(photon_post_os_put(none, 1, word, 8, 0, 0), PHOTON_ERROR);
    EXPECT_EQ(photon_post_os_get(77, 1, word, 8, 0, 0), PHOTON_ERROR);
    EXPECT_EQ(photon_send_FIN(77, 1, PHOTON_REQ_COMPLETED), PHOTON_ERROR);
    photon_buffer_t remote{};
    EXPECT_EQ(photon_get_buffer_remote(77, &remote), PHOTON_ERROR);
    ASSERT_EQ(photon_post_recv_buffer_rdma(1 - rank, word, 8, 0, &rid), PHOTON_OK);
    EXPECT_EQ(photon_send_FIN(rid, 1 - rank, 0), PHOTON_ERROR);  // it is the peer's to say
    photon_rid met = 0;
    ASSERT_EQ(photon_wait_recv_buffer_rdma(1 - rank, 8, 0, &met), PHOTON_OK);
    EXPECT_EQ(photon_get_buffer_remote(met, nullptr), PHOTON_ERROR);
    EXPECT_EQ(photon_post_os_put(met, rank, word, 8, 0, 0), PHOTON_ERROR);
    EXPECT_EQ(photon_post_os_get(met, 1 - rank, word, 8, 0, 0), PHOTON_ERROR);
    EXPECT_EQ(photon_post_os_put(met, 1 - rank, nullptr, 8, 0, 0), PHOTON_ERROR);
    EXPECT_EQ(photon_send_FIN(met, rank, 0), PHOTON_ERROR);
    EXPECT_EQ(photon_cancel(met, 0), PHOTON_OK);  // its owner has it back
    EXPECT_EQ(photon_send_FIN(met, 1 - rank, 0), PHOTON_ERROR);
    EXPECT_EQ(photon_wait(rid), PHOTON_OK);
  });
}

// What becomes of rank 0, who waits, when rank 1 goes without a word or by photon_finalize().
void wait_for_one_that_goes(Ground ground, bool is_killed) {
  ClassicJob job(2, ground);
  job.run_bare([&](int rank) {
    photon_config_t config = job.configuration(rank);
    ASSERT_EQ(photon_init(&config), PHOTON_OK);
    unsigned char word[1000] = {};
    photon_rid rid = 0, met = 0;
    if (rank == 1) {
      ASSERT_EQ(photon_wait_recv_buffer_rdma(0, kOfAnySize, 3, &met), PHOTON_OK);
      if (is_killed)
        classic::current_process->clear();
      else
        EXPECT_EQ(photon_finalize(), PHOTON_OK);
      return;
    }
    ASSERT_EQ(photon_post_recv_buffer_rdma(1, word, 1000, 3, &rid), PHOTON_OK);
    EXPECT_EQ(photon_wait(rid), PHOTON_ERROR);
    EXPECT_EQ(photon_wait_recv_buffer_rdma(1, kOfAnySize, 3, &met), PHOTON_ERROR);
    EXPECT_EQ(photon_wait_send_buffer_rdma(kFromAny, kOfAnySize, 3, &met), PHOTON_ERROR);
    EXPECT_EQ(met, 0u);
    EXPECT_EQ(photon_wait_send_request_rdma(3), -1);
    photon_finalize();
  });
}

TEST_P(MatchedBuffers, waits_end_with_an_error_when_the_peer_leaves) {
  wait_for_one_that_goes(GetParam(), false);
}

TEST_P(MatchedBuffers, waits_end_with_an_error_when_the_peer_dies) {
  if (GetParam() == Ground::shm && !is_on_hosts(GetParam()))
    GTEST_SKIP() << "callbacks tell nobody that a rank of the same process ended";
  wait_for_one_that_goes(GetParam(), true);
}

TEST_P(MatchedBuffers, eight_ranks_send_all_to_all_by_announcing_receive_buffers) {
  constexpr int kRanks = 8, kRounds = 5;
  constexpr std::size_t kBytes = 5000;
  ClassicJob job(kRanks, GetParam());
  job.run([&](int rank) {
    std::vector<unsigned char> source(kBytes), into(kRanks * kBytes);
    for (int round = 0; round < kRounds; ++round) {
      std::vector<photon_rid> received(kRanks);
      fill(source.data(), kBytes, static_cast<std::uint64_t>(rank + round));
      for (int peer = 0; peer < kRanks; ++peer)
        ASSERT_EQ(photon_post_recv_buffer_rdma(
                      peer, into.data() + static_cast<std::size_t>(peer) * kBytes, kBytes, round,
                      &received[static_cast<std::size_t>(peer)]),
                  PHOTON_OK);
      std::vector<photon_rid> met(kRanks);
      for (photon_rid& rid : met) {
        ASSERT_EQ(photon_wait_recv_buffer_rdma(kFromAny, kBytes, round, &rid), PHOTON_OK);
        ASSERT_EQ(photon_post_os_put(rid, kFromAny, source.data(), kBytes, round, 0), PHOTON_OK);
        ASSERT_EQ(photon_send_FIN(rid, kFromAny, PHOTON_REQ_NIL), PHOTON_OK);
      }
      for (const photon_rid rid : met) ASSERT_EQ(photon_wait(rid), PHOTON_OK);
      for (std::size_t peer = 0; peer < kRanks; ++peer) {
        ASSERT_EQ(photon_wait(received[peer]), PHOTON_OK);
        ASSERT_EQ(first_wrong(into.data() + peer * kBytes, kBytes,
                              peer + static_cast<std::uint64_t>(round)),
                  kBytes);
      }
    }
  });
}

TEST_P(MatchedBuffers, threads_that_wait_for_any_buffer_get_each_once) {
  constexpr int kBuffers = 200;
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    std::vector<unsigned char> into(kBuffers);
    std::vector<photon_rid> rids;
    if (rank == 0) {
      for (unsigned char& byte : into) {
        rids.push_back(0);
        ASSERT_EQ(photon_post_recv_buffer_rdma(1, &byte, 1, 0, &rids.back()), PHOTON_OK);
      }
      for (const photon_rid rid : rids) ASSERT_EQ(photon_wait(rid), PHOTON_OK);
      for (const unsigned char byte : into) ASSERT_EQ(byte, 1);
    } else {
      std::vector<std::thread> threads;
      for (int i = 0; i < 2; ++i)
        threads.push_back(ClassicJob::in_same_rank([&] {
          unsigned char one = 1;
          for (int taken = 0; taken < kBuffers / 2; ++taken) {
            photon_rid rid = 0;
            ASSERT_EQ(photon_wait_recv_buffer_rdma(0, 1, 0, &rid), PHOTON_OK);
            ASSERT_EQ(photon_post_os_put(rid, 0, &one, 1, 0, 0), PHOTON_OK);
            ASSERT_EQ(photon_wait(rid), PHOTON_OK);
            ASSERT_EQ(photon_send_FIN(rid, 0, PHOTON_REQ_COMPLETED), PHOTON_OK);
          }
        }));
      for (std::thread& thread : threads) thread.join();
    }
    job.meet();
  });
}

}  // namespace
}  // namespace photon::test
