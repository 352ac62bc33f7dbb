// Rendezvous with a peer that has left, and what is refused for want of room.
#include "base/clock.hpp"
#include "classic_job.hpp"

namespace photon::test {
namespace {

class MatchedBufferEnds : public OverGrounds {};
INSTANTIATE_TEST_SUITE_P(grounds, MatchedBufferEnds, testing::Values(Ground::shm, Ground::sim),
                         ground_name);

constexpr int kAnyRank = PHOTON_ANY_SOURCE;
constexpr std::uint64_t kWhateverSize = static_cast<std::uint64_t>(PHOTON_ANY_SIZE);

// Of rank 1, which has left: 100 bytes that came along. An id there is nobody to send.
void get_by_description(photon_rid met) {
  std::vector<unsigned char> bytes(100);
  photon_buffer_t remote{}, mine = bare(bytes.data(), 100);
  photon_rid rid = 0;
  ASSERT_EQ(photon_get_buffer_remote(met, &remote), PHOTON_OK);
  EXPECT_EQ(photon_get_with_completion(1, 100, &mine, &remote, u64(1), u64(2), 0), PHOTON_ERROR);
  EXPECT_EQ(bytes, std::vector<unsigned char>(100));
  ASSERT_EQ(photon_post_os_get_direct(1, bytes.data(), 100, &remote, 0, &rid), PHOTON_OK);
  EXPECT_EQ(photon_wait(rid), PHOTON_OK);
  EXPECT_EQ(first_wrong(bytes.data(), 100, 5), 100u);
  bytes.assign(100, 0);
  void* places[] = {bytes.data()};
  std::uint64_t sizes[] = {100};
  photonBuffer sources[] = {&remote};
  ASSERT_EQ(photon_post_os_getv_direct(1, places, sizes, sources, 1, 0, &rid), PHOTON_OK);
  EXPECT_EQ(photon_wait(rid), PHOTON_OK);
  EXPECT_EQ(first_wrong(bytes.data(), 100, 5), 100u);
}

// Rank 1 announces a small send buffer and is gone when rank 0 looks at it.
TEST_P(MatchedBufferEnds, a_small_send_buffer_is_read_after_its_owner_has_left) {
  ClassicJob job(2, GetParam());
  for (const bool meets_before : {false, true}) {
    job.run_bare([&](int rank) {
      photon_config_t config = job.configuration(rank);
      ASSERT_EQ(photon_init(&config), PHOTON_OK);
      unsigned char bytes[100] = {};
      photon_rid rid = 0;
      if (rank == 1) {
        fill(bytes, sizeof bytes, 5);
        ASSERT_EQ(photon_post_send_buffer_rdma(0, bytes, sizeof bytes, 3, &rid), PHOTON_OK);
        EXPECT_EQ(photon_wait(rid), PHOTON_OK);
        job.meet();
        if (meets_before) job.meet();
        EXPECT_EQ(photon_finalize(), PHOTON_OK);
        job.meet();
        return;
      }
      job.meet();
      if (meets_before) {
        ASSERT_EQ(photon_wait_send_buffer_rdma(1, kWhateverSize, 3, &rid), PHOTON_OK);
        job.meet();
      }
      job.meet();  // it has left
      photon_rid other = 0;
      EXPECT_EQ(photon_wait_recv_buffer_rdma(1, kWhateverSize, 3, &other), PHOTON_ERROR);
      if (!meets_before) {
        ASSERT_EQ(photon_wait_send_buffer_rdma(1, kWhateverSize, 3, &rid), PHOTON_OK);
      }
      EXPECT_EQ(photon_post_os_get(rid, 1, bytes, 2, 3, 99), PHOTON_ERROR);  // it leaves the buffer
      EXPECT_EQ(photon_post_os_get(rid, 1, bytes, 60, 3, 0), PHOTON_OK);
      EXPECT_EQ(photon_post_os_get(rid, 1, bytes + 60, 40, 3, 60), PHOTON_OK);
      EXPECT_EQ(photon_wait(rid), PHOTON_OK);
      EXPECT_EQ(first_wrong(bytes, sizeof bytes, 5), sizeof bytes);
      get_by_description(rid);
      EXPECT_EQ(photon_send_FIN(rid, 1, PHOTON_REQ_NIL), PHOTON_OK);
      EXPECT_EQ(photon_post_os_get(rid, 1, bytes, 1, 3, 0), PHOTON_ERROR);  // and that was the end
      EXPECT_EQ(photon_finalize(), PHOTON_OK);
    });
  }
}

// What nobody has met goes with its owner, at once: a peer that probes is no reason to wait, and it
// is no error.
TEST_P(MatchedBufferEnds, a_buffer_that_nobody_met_keeps_no_rank_from_leaving) {
  ClassicJob job(2, GetParam());
  job.run_bare([&](int rank) {
    photon_config_t config = job.configuration(rank);
    ASSERT_EQ(photon_init(&config), PHOTON_OK);
    std::vector<unsigned char> bytes(1 << 16);
    photon_rid rid = 0;
    if (rank == 1) {
      ASSERT_EQ(photon_post_send_buffer_rdma(0, bytes.data(), bytes.size(), 3, &rid), PHOTON_OK);
      ASSERT_EQ(photon_post_recv_buffer_rdma(0, bytes.data(), bytes.size(), 4, &rid), PHOTON_OK);
      ASSERT_EQ(photon_post_send_request_rdma(0, 8, 5, &rid), PHOTON_OK);
      const std::int64_t before = base::now_ns();
      EXPECT_EQ(photon_finalize(), PHOTON_OK);
      // It would be given up after finalize_timeout_ms, 10 s.
      EXPECT_LT(base::now_ns() - before, std::int64_t{5'000'000'000});
      job.meet();
      return;
    }
    job.meet();  // it probes meanwhile
    EXPECT_EQ(photon_wait_recv_buffer_rdma(1, kWhateverSize, 4, &rid), PHOTON_ERROR);
    EXPECT_EQ(photon_finalize(), PHOTON_OK);
  });
}

// So few that a test can use them up.
class FewRequests {
 public:
  FewRequests() { setenv("PHOTON_REQUESTS", "16", 1); }
  ~FewRequests() { unsetenv("PHOTON_REQUESTS"); }
  FewRequests(const FewRequests&) = delete;
  FewRequests& operator=(const FewRequests&) = delete;
};

// Announces to rank 1 until no more may be.
std::vector<photon_rid> announce_all_that_may_be(unsigned char* bytes, std::size_t size_bytes) {
  std::vector<photon_rid> rids;
  photon_rid rid = 0;
  int said = PHOTON_OK;
  while ((said = photon_post_recv_buffer_rdma(1, bytes, size_bytes, 1, &rid)) == PHOTON_OK)
    rids.push_back(rid);
  EXPECT_EQ(said, PHOTON_ERROR_RESOURCE);
  return rids;
}

TEST_P(MatchedBufferEnds, a_send_request_that_could_not_be_answered_is_there_for_the_next_call) {
  const FewRequests few;
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    unsigned char bytes[300] = {};
    photon_rid rid = 0, met = 0;
    int flag = 0;
    if (rank == 1) {
      job.meet();  // rank 0 has announced what it can
      for (const int tag : {8, 9, 9})
        ASSERT_EQ(photon_post_send_request_rdma(0, 300, tag, nullptr), PHOTON_OK);
      job.meet();  // rank 0 could not answer
      ASSERT_EQ(photon_wait_recv_buffer_rdma(0, 300, 1, &met), PHOTON_OK);
      ASSERT_EQ(photon_send_FIN(met, 0, PHOTON_REQ_COMPLETED), PHOTON_OK);
      ASSERT_EQ(photon_wait_recv_buffer_rdma(0, 200, 9, &met), PHOTON_OK);
      ASSERT_EQ(photon_send_FIN(met, 0, PHOTON_REQ_COMPLETED), PHOTON_OK);
      return;
    }
    const std::vector<photon_rid> others = announce_all_that_may_be(bytes, 300);
    job.meet();
    EXPECT_EQ(photon_post_recv_buffer_rdma(kAnyRank, nullptr, 200, 7, &rid), PHOTON_ERROR);
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(photon_post_recv_buffer_rdma(kAnyRank, bytes, 200, 9, &rid), PHOTON_ERROR_RESOURCE);
    EXPECT_EQ(rid, 0u);
    photon_status_t status{};
    EXPECT_EQ(photon_probe_ledger(1, &flag, PHOTON_SEND_LEDGER, &status), PHOTON_OK);
    job.meet();
    ASSERT_EQ(photon_wait(others.front()), PHOTON_OK);
    ASSERT_EQ(photon_post_recv_buffer_rdma(kAnyRank, bytes, 200, 9, &rid), PHOTON_OK);
    EXPECT_EQ(photon_wait(rid), PHOTON_OK);
    EXPECT_EQ(photon_wait_send_request_rdma(9), 1);  // the second of them
    EXPECT_EQ(photon_wait_send_request_rdma(PHOTON_ANY_TAG), 1);
    EXPECT_NE(photon_probe_ledger(1, &flag, PHOTON_SEND_LEDGER, &status), PHOTON_OK);
  });
}

// What rank 0 waits for, of a rank 1 that it never heard of and never spoke to.
void wait_in_vain() {
  photon_rid rid = 0;
  unsigned char word[8] = {};
  for (const int proc : {1, kAnyRank}) {
    EXPECT_EQ(photon_wait_recv_buffer_rdma(proc, kWhateverSize, 3, &rid), PHOTON_ERROR);
    EXPECT_EQ(photon_wait_send_buffer_rdma(proc, kWhateverSize, 3, &rid), PHOTON_ERROR);
  }
  EXPECT_EQ(photon_wait_send_request_rdma(3), -1);
  EXPECT_EQ(photon_post_recv_buffer_rdma(kAnyRank, word, 8, 3, &rid), PHOTON_ERROR);
  EXPECT_EQ(rid, 0u);
}

TEST_P(MatchedBufferEnds, who_left_before_the_first_word_is_waited_for_by_nobody) {
  ClassicJob job(2, GetParam());
  job.run_bare([&](int rank) {
    photon_config_t config = job.configuration(rank);
    ASSERT_EQ(photon_init(&config), PHOTON_OK);
    job.meet();
    if (rank == 1) static_cast<void>(photon_finalize());
    job.meet();
    if (rank == 0) wait_in_vain();
    photon_finalize();
  });
}

// On shm alone: sim may miss that a rank ended while it was spoken to for the first time.
TEST(MatchedBufferPeers, who_leaves_without_a_word_while_it_is_waited_for_ends_the_wait) {
  for (const int proc : {1, kAnyRank}) {
    ClassicJob job(2);
    job.run_bare([&](int rank) {
      photon_config_t config = job.configuration(rank);
      ASSERT_EQ(photon_init(&config), PHOTON_OK);
      job.meet();
      photon_rid rid = 0;
      if (rank == 0) {
        EXPECT_EQ(photon_wait_send_buffer_rdma(proc, kWhateverSize, 3, &rid), PHOTON_ERROR);
      }
      photon_finalize();
    });
  }
}

// Whom one rank gets in touch with sees nothing of it.
TEST_P(MatchedBufferEnds, a_wait_for_any_leaves_no_trace_at_those_it_waits_for) {
  ClassicJob job(3, GetParam());
  job.run([&](int rank) {
    unsigned char bytes[300] = {};
    photon_rid rid = 0;
    if (rank == 0) {
      ASSERT_EQ(photon_wait_recv_buffer_rdma(kAnyRank, 300, 3, &rid), PHOTON_OK);
      EXPECT_EQ(photon_send_FIN(rid, 2, PHOTON_REQ_COMPLETED), PHOTON_OK);
    } else if (rank == 2) {
      // Rank 0 waits, and has got in touch: else this would not end.
      for (std::string state = "unknown"; state == "unknown";) {
        EXPECT_EQ(probe().flag, 0);
        ph_path path{};
        path.size = sizeof path;
        ASSERT_EQ(ph_path_to(classic::current()->context(), 0, &path), PH_OK);
        state = path.state;
      }
      ASSERT_EQ(photon_post_recv_buffer_rdma(0, bytes, 300, 3, &rid), PHOTON_OK);
      EXPECT_EQ(photon_wait(rid), PHOTON_OK);
    }
    job.meet();
    EXPECT_EQ(probe().flag, 0);
  });
}

}  // namespace
}  // namespace photon::test
