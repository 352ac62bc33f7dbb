// Buffers announced, met, filled or read, and finished.
#include <map>

#include "classic_job.hpp"

namespace photon::test {
namespace {

class Rendezvous : public OverGrounds {};
INSTANTIATE_TEST_SUITE_P(grounds, Rendezvous, testing::Values(Ground::shm, Ground::sim),
                         ground_name);

constexpr std::uint64_t kAnySize = static_cast<std::uint64_t>(PHOTON_ANY_SIZE);

// As old programs do it.
int test_until_over(photon_rid rid, photon_status_t* status = nullptr) {
  int flag = 0, type = 0;
  while (flag == 0) {
    if (const int said = photon_test(rid, &flag, &type, status); said != 0) return said;
    std::this_thread::yield();
  }
  return 0;
}

bool is_gone(photon_rid rid) {
  int flag = 0;
  return photon_test(rid, &flag, nullptr, nullptr) == 1 && flag == -1;
}

// Puts `source` into the next buffer of `peer`, and finishes it.
void put_into_next(int peer, std::vector<unsigned char>& source, int tag) {
  photon_rid rid = 0;
  ASSERT_EQ(photon_wait_recv_buffer_rdma(peer, kAnySize, tag, &rid), PHOTON_OK);
  ASSERT_EQ(photon_post_os_put(rid, peer, source.data(), source.size(), tag, 0), PHOTON_OK);
  ASSERT_EQ(photon_send_FIN(rid, peer, PHOTON_REQ_NIL), PHOTON_OK);
  ASSERT_EQ(photon_wait(rid), PHOTON_OK);
  EXPECT_TRUE(is_gone(rid));
}

TEST_P(Rendezvous, a_ring_of_gets_reads_what_was_announced) {
  ClassicJob job(3, GetParam());
  job.run([&](int rank) {
    const int next = (rank + 1) % 3, previous = (rank + 2) % 3;
    for (const std::size_t size : {1U, 100U, 192U, 193U, 5000U, 300000U}) {
      std::vector<unsigned char> source(size), into(size);
      fill(source.data(), size, static_cast<std::uint64_t>(rank));
      photon_rid sent = 0, met = 0;
      ASSERT_EQ(photon_post_send_buffer_rdma(next, source.data(), size, 13, &sent), PHOTON_OK);
      ASSERT_EQ(photon_wait_send_buffer_rdma(previous, kAnySize, 13, &met), PHOTON_OK);
      ASSERT_EQ(photon_post_os_get(met, previous, into.data(), size, 13, 0), PHOTON_OK);
      ASSERT_EQ(test_until_over(met), 0);
      EXPECT_EQ(first_wrong(into.data(), size, static_cast<std::uint64_t>(previous)), size);
      ASSERT_EQ(photon_send_FIN(met, previous, PHOTON_REQ_COMPLETED), PHOTON_OK);
      EXPECT_TRUE(is_gone(met));
      EXPECT_EQ(photon_wait(sent), PHOTON_OK);
    }
  });
}

TEST_P(Rendezvous, the_owners_request_is_of_the_ledger_and_is_over_on_the_fin_alone) {
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    std::vector<unsigned char> bytes(1000);
    photon_rid rid = 0;
    if (rank == 0) {
      ASSERT_EQ(photon_post_recv_buffer_rdma(1, bytes.data(), 1000, 7, &rid), PHOTON_OK);
      job.meet();  // it is filled
      int flag = 9, type = 9;
      EXPECT_EQ(photon_test(rid, &flag, &type, nullptr), 0);
      EXPECT_EQ(flag, 0);
      EXPECT_EQ(first_wrong(bytes.data(), 1000, 5), 1000u);
      job.meet();
      photon_status_t status{};
      EXPECT_EQ(test_until_over(rid, &status), 0);
      EXPECT_EQ(status.src_addr.global.proc_id, 1u);
      EXPECT_EQ(status.size, 1000u);
      EXPECT_EQ(status.tag, 7);
      EXPECT_TRUE(is_gone(rid));
    } else {
      fill(bytes.data(), 1000, 5);
      ASSERT_EQ(photon_wait_recv_buffer_rdma(0, 1000, 7, &rid), PHOTON_OK);
      ASSERT_EQ(photon_post_os_put(rid, 0, bytes.data(), 1000, 7, 0), PHOTON_OK);
      ASSERT_EQ(photon_wait(rid), PHOTON_OK);
      job.meet();
      job.meet();
      EXPECT_EQ(photon_wait(rid), PHOTON_OK);  // not finished: nothing is under way
      EXPECT_EQ(photon_send_FIN(rid, 0, PHOTON_REQ_NIL), PHOTON_OK);
      EXPECT_TRUE(is_gone(rid));  // all was told
    }
    job.meet();
  });
}

TEST_P(Rendezvous, a_fin_that_says_completed_frees_the_rid_though_transfers_are_under_way) {
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    std::vector<unsigned char> bytes(1 << 20);
    for (int round = 0; round < 100; ++round) {
      photon_rid rid = 0;
      if (rank == 0) {
        ASSERT_EQ(photon_post_recv_buffer_rdma(1, bytes.data(), bytes.size(), 1, &rid), PHOTON_OK);
        ASSERT_EQ(photon_wait(rid), PHOTON_OK);
        ASSERT_EQ(first_wrong(bytes.data(), 4096, 3), 4096u);
        ASSERT_EQ(first_wrong(bytes.data() + (1 << 20) - 4096, 4096, 4), 4096u);
        std::memset(bytes.data(), 0, bytes.size());
      } else {
        fill(bytes.data(), 4096, 3);
        fill(bytes.data() + (1 << 20) - 4096, 4096, 4);
        ASSERT_EQ(photon_wait_recv_buffer_rdma(0, kAnySize, 1, &rid), PHOTON_OK);
        ASSERT_EQ(photon_post_os_put(rid, 0, bytes.data(), bytes.size(), 1, 0), PHOTON_OK);
        ASSERT_EQ(photon_send_FIN(rid, 0, PHOTON_REQ_COMPLETED), PHOTON_OK);
        EXPECT_TRUE(is_gone(rid));
      }
      job.meet();
    }
  });
}

TEST_P(Rendezvous, pieces_at_offsets_are_all_over_when_their_rid_is) {
  constexpr std::size_t kPieces = 16, kBytes = 3000;
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    std::vector<unsigned char> bytes(kPieces * kBytes);
    photon_rid rid = 0;
    if (rank == 0) {
      ASSERT_EQ(photon_post_recv_buffer_rdma(1, bytes.data(), bytes.size(), 0, &rid), PHOTON_OK);
      ASSERT_EQ(photon_wait(rid), PHOTON_OK);
      EXPECT_EQ(first_wrong(bytes.data(), bytes.size(), 8), bytes.size());
    } else {
      fill(bytes.data(), bytes.size(), 8);
      ASSERT_EQ(photon_wait_recv_buffer_rdma(0, kAnySize, 0, &rid), PHOTON_OK);
      for (std::size_t i = 0; i < kPieces; ++i)
        ASSERT_EQ(photon_post_os_put(rid, 0, bytes.data() + i * kBytes, kBytes, 0, i * kBytes),
                  PHOTON_OK);
      EXPECT_EQ(photon_post_os_put(rid, 0, bytes.data(), kBytes, 0, bytes.size() - 1),
                PHOTON_ERROR);  // it would leave the buffer
      int proc = -1;
      photon_rid over = 0;
      EXPECT_EQ(photon_wait_any(&proc, &over), PHOTON_OK);
      EXPECT_EQ(over, rid);
      EXPECT_EQ(proc, 0);
      EXPECT_EQ(photon_wait_any(&proc, &over), PHOTON_ERROR);  // told once
      std::memset(bytes.data(), 0, bytes.size());
      EXPECT_EQ(photon_send_FIN(rid, 0, PHOTON_REQ_COMPLETED), PHOTON_OK);
    }
    job.meet();
  });
}

// A defect of the original: it wedged after 64 of one peer.
TEST_P(Rendezvous, a_thousand_fins_of_each_peer_wedge_nothing) {
  constexpr int kFins = 1000;
  ClassicJob job(3, GetParam());
  job.run([&](int rank) {
    std::vector<unsigned char> source(300), into(3 * 300);
    for (int i = 0; i < kFins; ++i) {
      std::vector<photon_rid> received;
      for (int peer = 0; peer < 3; ++peer) {
        if (peer == rank) continue;
        photon_rid rid = 0;
        ASSERT_EQ(photon_post_recv_buffer_rdma(peer, into.data() + peer * 300, 300, i, &rid),
                  PHOTON_OK);
        received.push_back(rid);
      }
      for (int peer = 0; peer < 3; ++peer)
        if (peer != rank) put_into_next(peer, source, i);
      for (const photon_rid rid : received) ASSERT_EQ(photon_wait(rid), PHOTON_OK);
    }
  });
}

TEST_P(Rendezvous, a_thousand_buffers_are_outstanding_at_once_and_end_in_any_order) {
  constexpr int kBuffers = 1000;
  constexpr std::size_t kBytes = 200;
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    std::vector<unsigned char> bytes(kBuffers * kBytes);
    std::vector<photon_rid> rids(kBuffers);
    for (int i = 0; rank == 0 && i < kBuffers; ++i)
      ASSERT_EQ(photon_post_recv_buffer_rdma(1, bytes.data() + static_cast<std::size_t>(i) * kBytes,
                                             kBytes, i, &rids[static_cast<std::size_t>(i)]),
                PHOTON_OK);
    for (int i = kBuffers; rank == 1 && i-- > 0;) {
      std::vector<unsigned char> source(kBytes);
      fill(source.data(), kBytes, static_cast<std::uint64_t>(i));
      put_into_next(0, source, i);
    }
    for (std::size_t i = 0; rank == 0 && i < kBuffers; ++i) {
      int proc = -1;
      photon_rid rid = 0;
      ASSERT_EQ(photon_wait_any_ledger(&proc, &rid), PHOTON_OK);
      EXPECT_EQ(proc, 1);
    }
    for (std::size_t i = 0; rank == 0 && i < kBuffers; ++i) {
      EXPECT_TRUE(is_gone(rids[i]));
      ASSERT_EQ(first_wrong(bytes.data() + i * kBytes, kBytes, i), kBytes);
    }
    job.meet();
  });
}

TEST_P(Rendezvous, sizes_and_tags_choose_and_wildcards_take_the_oldest) {
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    unsigned char bytes[400] = {};
    struct Kind {
      std::uint64_t size_bytes;
      int tag;
    };
    if (rank == 0) {
      for (const Kind& kind :
           {Kind{100, 1}, Kind{200, 2}, Kind{300, 1}, Kind{400, 3}, Kind{50, -5}})
        ASSERT_EQ(photon_post_recv_buffer_rdma(1, bytes, kind.size_bytes, kind.tag, nullptr),
                  PHOTON_OK);
    } else {
      struct Asked {
        std::uint64_t size_bytes;
        int tag;
        std::uint64_t found_bytes;
      };
      for (const Asked& asked : {Asked{300, PHOTON_ANY_TAG, 300}, Asked{kAnySize, 3, 400},
                                 Asked{kAnySize, PHOTON_ANY_TAG, 100}, Asked{200, 2, 200},
                                 Asked{kAnySize, PHOTON_ANY_TAG, 50}}) {
        photon_rid rid = 0;
        photon_buffer_t remote{};
        ASSERT_EQ(photon_wait_recv_buffer_rdma(0, asked.size_bytes, asked.tag, &rid), PHOTON_OK);
        ASSERT_EQ(photon_get_buffer_remote(rid, &remote), PHOTON_OK);
        EXPECT_EQ(remote.size, asked.found_bytes);
        ASSERT_EQ(photon_send_FIN(rid, 0, PHOTON_REQ_COMPLETED), PHOTON_OK);
      }
    }
    job.meet();
  });
}

TEST_P(Rendezvous, the_remote_buffer_of_a_rid_is_a_target_of_puts_with_completion) {
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    std::vector<unsigned char> bytes(5000);
    photon_rid rid = 0;
    if (rank == 0) {
      ASSERT_EQ(photon_post_recv_buffer_rdma(1, bytes.data(), 5000, 0, &rid), PHOTON_OK);
      EXPECT_EQ(photon_wait(rid), PHOTON_OK);
      EXPECT_EQ(first_wrong(bytes.data(), 5000, 2), 5000u);
      EXPECT_EQ(take(PHOTON_ANY_SOURCE, PHOTON_PROBE_LEDGER).id.u64, 12u);
    } else {
      fill(bytes.data(), 5000, 2);
      photon_buffer_t remote{}, mine = bare(bytes.data(), 5000);
      ASSERT_EQ(photon_wait_recv_buffer_rdma(0, 5000, 0, &rid), PHOTON_OK);
      ASSERT_EQ(photon_get_buffer_remote(rid, &remote), PHOTON_OK);
      ASSERT_EQ(photon_put_with_completion(0, 5000, &mine, &remote, u64(11), u64(12), 0),
                PHOTON_OK);
      EXPECT_EQ(photon_send_FIN(rid, 0, PHOTON_REQ_COMPLETED), PHOTON_OK);
      EXPECT_EQ(take(PHOTON_ANY_SOURCE, PHOTON_PROBE_EVQ).id.u64, 11u);
    }
    job.meet();
  });
}

}  // namespace
}  // namespace photon::test
