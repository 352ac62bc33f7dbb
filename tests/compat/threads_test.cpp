// Several threads of a rank that probe and post at once.
#include <atomic>

#include "classic_job.hpp"

namespace photon::test {
namespace {

class Threads : public OverGrounds {};
INSTANTIATE_TEST_SUITE_P(grounds, Threads, testing::Values(Ground::shm, Ground::sim), ground_name);

// Defects of the original: two that probed the ledger of one peer dropped an event, and an error
// path kept a lock.
TEST_P(Threads, two_ledger_probers_of_one_peer_lose_nothing) {
  constexpr std::uint64_t kIds = 4000;
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    if (rank == 0) {
      for (std::uint64_t i = 0; i < kIds; ++i)
        ASSERT_EQ(photon_put_with_completion(1, 0, nullptr, nullptr, u64(0), u64(i),
                                             PHOTON_REQ_PWC_NO_LCE),
                  PHOTON_OK);
      return;
    }
    std::vector<std::atomic<int>> seen(kIds);
    std::atomic<std::uint64_t> taken{0};
    const auto prober = [&] {
      while (taken < kIds) {
        const Probed found = probe(0, PHOTON_PROBE_LEDGER);
        ASSERT_EQ(found.status, PHOTON_OK);
        if (found.flag == 0) {
          std::this_thread::yield();
          continue;
        }
        ++seen[found.id.u64];
        ++taken;
      }
    };
    std::thread second = ClassicJob::in_same_rank(prober);
    prober();
    second.join();
    for (const auto& count : seen) ASSERT_EQ(count, 1);
  });
}

// Of a buffer that was met: its lock is held where these find out.
void fail_with(photon_rid met) {
  unsigned char bytes[8] = {};
  photon_rid rid = 0;
  photon_buffer_t theirs{};
  EXPECT_EQ(photon_post_os_put(met, 0, bytes, 8, 1, 1), PHOTON_ERROR);
  EXPECT_EQ(photon_post_os_get(met, 0, bytes, 8, 1, 1), PHOTON_ERROR);
  ASSERT_EQ(photon_get_buffer_remote(met, &theirs), PHOTON_OK);
  theirs.addr += 1;
  void* place[] = {bytes};
  std::uint64_t size[] = {8};
  photonBuffer source[] = {&theirs};
  photon_buffer_t mine = bare(bytes, 8);
  EXPECT_EQ(photon_post_os_get_direct(0, bytes, 8, &theirs, 0, &rid), PHOTON_ERROR);
  EXPECT_EQ(photon_post_os_getv_direct(0, place, size, source, 1, 0, &rid), PHOTON_ERROR);
  EXPECT_EQ(photon_get_with_completion(0, 8, &mine, &theirs, u64(1), u64(2), 0), PHOTON_ERROR);
}

// One of each family of calls, all of which can find something wrong.
void fail_in_every_way() {
  unsigned char word[8] = {};
  photon_buffer_t bad = bare(word, 8);
  photonBuffer none[] = {nullptr};
  void* place[] = {word};
  std::uint64_t size[] = {8};
  photon_rid rid = 0;
  photon_coll_comm comm = nullptr;
  int flag = 0, proc = 0;
  const photon_buffer_priv_t* keys = nullptr;
  const auto sum = PHOTON_ATOMIC_SUM;
  EXPECT_EQ(photon_put_with_completion(9, 8, &bad, &bad, u64(1), u64(1), 0), PHOTON_ERROR);
  EXPECT_EQ(photon_put_with_completion(0, 8, nullptr, &bad, u64(1), u64(1), 0), PHOTON_ERROR);
  EXPECT_EQ(photon_put_with_completion(9, 8, &bad, &bad, bytes_id(word, 8), u64(1), 0),
            PHOTON_ERROR);
  EXPECT_EQ(photon_get_with_completion(9, 8, &bad, &bad, u64(1), u64(1), 0), PHOTON_ERROR);
  EXPECT_EQ(photon_get_with_completion(0, 8, nullptr, &bad, u64(1), u64(1), 0), PHOTON_ERROR);
  EXPECT_EQ(photon_post_os_put_direct(9, word, 8, &bad, 0, &rid), PHOTON_ERROR);
  EXPECT_EQ(photon_post_os_get_direct(9, word, 8, &bad, 0, &rid), PHOTON_ERROR);
  EXPECT_EQ(photon_post_os_putv_direct(0, place, size, none, 1, 0, &rid), PHOTON_ERROR);
  EXPECT_EQ(photon_post_os_getv_direct(0, place, size, none, 1, 0, &rid), PHOTON_ERROR);
  EXPECT_EQ(photon_atomic(9, &bad, &bad, PHOTON_INT64, sum, 1, 2, 0), PHOTON_ERROR);
  EXPECT_EQ(photon_post_recv_buffer_rdma(9, word, 8, 1, &rid), PHOTON_ERROR);
  EXPECT_EQ(photon_post_send_buffer_rdma(0, nullptr, 8, 1, &rid), PHOTON_ERROR);
  EXPECT_EQ(photon_post_send_request_rdma(9, 8, 1, &rid), PHOTON_ERROR);
  EXPECT_EQ(photon_wait_recv_buffer_rdma(9, 8, 1, &rid), PHOTON_ERROR);
  EXPECT_EQ(photon_wait_send_buffer_rdma(0, 8, 1, nullptr), PHOTON_ERROR);
  EXPECT_EQ(photon_post_os_put(77, 0, word, 8, 1, 0), PHOTON_ERROR);
  EXPECT_EQ(photon_post_os_get(77, 0, word, 8, 1, 0), PHOTON_ERROR);
  EXPECT_EQ(photon_send_FIN(77, 0, 0), PHOTON_ERROR);
  EXPECT_EQ(photon_get_buffer_remote(77, &bad), PHOTON_ERROR);
  EXPECT_EQ(photon_test(77, &flag, nullptr, nullptr), 1);
  EXPECT_EQ(photon_wait(77), PHOTON_ERROR);
  EXPECT_EQ(photon_wait_any(&proc, &rid), PHOTON_ERROR);
  EXPECT_EQ(photon_wait_any_ledger(&proc, &rid), PHOTON_ERROR);
  EXPECT_EQ(photon_cancel(77, 0), PHOTON_ERROR);
  EXPECT_EQ(photon_probe_ledger(0, &flag, 5, nullptr), PHOTON_ERROR);
  EXPECT_EQ(photon_unregister_buffer(word, 8), PHOTON_ERROR);
  EXPECT_EQ(photon_get_buffer_private(word, 8, &keys), PHOTON_ERROR);
  EXPECT_EQ(photon_collective_comm_create(nullptr, 3, 1, &comm), PHOTON_ERROR);
  EXPECT_EQ(photon_collective_init(PHOTON_COLL_MAXVAL, u64(1), &rid, 0), PHOTON_ERROR);
  EXPECT_EQ(photon_collective_join(77, word, word, 1, PHOTON_INT64, nullptr), PHOTON_ERROR);
}

// What those calls have locked, locked again.
void succeed_in_every_way() {
  Registered memory(64);
  photon_buffer_t mine = memory.buffer(), theirs = memory.buffer();
  photon_rid rid = 0, met = 0;
  ASSERT_EQ(photon_put_with_completion(0, 0, nullptr, nullptr, u64(1), u64(2), 0), PHOTON_OK);
  EXPECT_EQ(take(PHOTON_ANY_SOURCE, PHOTON_PROBE_EVQ).id.u64, 1u);
  EXPECT_EQ(take(PHOTON_ANY_SOURCE, PHOTON_PROBE_LEDGER).id.u64, 2u);
  ASSERT_EQ(photon_get_with_completion(0, 8, &mine, &theirs, u64(3), u64(0), PHOTON_REQ_PWC_NO_RCE),
            PHOTON_OK);
  EXPECT_EQ(take().id.u64, 3u);
  ASSERT_EQ(photon_post_os_put_direct(0, memory.data(), 8, &theirs, 0, &rid), PHOTON_OK);
  EXPECT_EQ(photon_wait(rid), PHOTON_OK);
  ASSERT_EQ(photon_post_recv_buffer_rdma(0, memory.data(), 8, 1, &rid), PHOTON_OK);
  ASSERT_EQ(photon_wait_recv_buffer_rdma(0, 8, 1, &met), PHOTON_OK);
  ASSERT_EQ(photon_post_os_put(met, 0, memory.data() + 8, 8, 1, 0), PHOTON_OK);
  EXPECT_EQ(photon_send_FIN(met, 0, PHOTON_REQ_COMPLETED), PHOTON_OK);
  EXPECT_EQ(photon_wait(rid), PHOTON_OK);
  ASSERT_EQ(photon_post_send_buffer_rdma(0, memory.data(), 8, 1, nullptr), PHOTON_OK);
  ASSERT_EQ(photon_wait_send_buffer_rdma(0, 8, 1, &met), PHOTON_OK);
  fail_with(met);
  ClassicJob::in_same_rank([&] {
    ASSERT_EQ(photon_post_os_get(met, 0, memory.data() + 8, 8, 1, 0), PHOTON_OK);
    EXPECT_EQ(photon_wait(met), PHOTON_OK);
    EXPECT_EQ(photon_send_FIN(met, 0, PHOTON_REQ_COMPLETED), PHOTON_OK);
    EXPECT_EQ(photon_send_FIN(met, 0, PHOTON_REQ_COMPLETED), PHOTON_ERROR);
  }).join();
  ASSERT_EQ(photon_collective_init(PHOTON_COLL_IBARRIER, u64(4), &rid, 0), PHOTON_OK);
  EXPECT_EQ(photon_collective_join(rid, nullptr, nullptr, 0, PHOTON_INT8, nullptr), PHOTON_OK);
  EXPECT_EQ(take(PHOTON_ANY_SOURCE, PHOTON_PROBE_EVQ).id.u64, 4u);
}

TEST_P(Threads, a_failed_call_of_any_family_leaves_others_free_to_go_on) {
  ClassicJob job(1, GetParam());
  job.run([&](int) {
    for (int i = 0; i < 30; ++i) {
      fail_in_every_way();
      ClassicJob::in_same_rank(succeed_in_every_way).join();
    }
  });
}

// The puts of large sources that may be used again wait for those before them, once in a while. On
// sim, and without the thread that serves peers: else all that is put lands.
TEST(ThreadsOfOneRank, a_peer_that_takes_nothing_holds_up_only_who_puts_to_it) {
  constexpr std::size_t kBytes = 2048;
  const Variable no_thread("PHOTON_PROGRESS_THREAD", "off");
  ClassicJob job(3, Ground::sim, [](photon_config_t& c) { c.cap.small_pwc_size = kBytes; });
  std::atomic<bool> is_over{false}, is_counted{false};
  std::atomic<int> landing{0}, refused{0};
  job.run([&](int rank) {
    Registered memory(kBytes);
    auto all = job.exchange(memory.buffer());
    const auto put = [&](int to) {
      std::vector<unsigned char> source(kBytes, 1);
      photon_buffer_t from = bare(source.data(), kBytes);
      return photon_put_with_completion(to, kBytes, &from, &all[static_cast<std::size_t>(to)],
                                        u64(0), u64(5), PHOTON_REQ_PWC_NO_LCE);
    };
    if (rank == 0) {
      std::thread stuck = ClassicJob::in_same_rank([&] {
        while (!is_over) {
          const int status = put(1);
          ASSERT_TRUE(status == PHOTON_OK || status == PHOTON_ERROR_RESOURCE) << status;
          ++(status == PHOTON_OK ? landing : refused);
        }
      });
      while (landing < 64) std::this_thread::yield();  // so many are copied before one waits
      for (int i = 0; i < 1000; ++i) EXPECT_EQ(put(2), PHOTON_OK) << i;
      // Each took the other thread a second. Who waits for it waits longer than for all of these.
      EXPECT_LT(refused, 4);
      is_over = true;
      stuck.join();
      is_counted = true;
    }
    while (rank == 1 && !is_counted) std::this_thread::yield();  // it makes no call
    for (int i = 0; rank == 1 && i < landing; ++i) take(0, PHOTON_PROBE_LEDGER);
    for (int i = 0; rank == 2 && i < 1000; ++i) take(0, PHOTON_PROBE_LEDGER);
    job.meet();
  });
}

TEST_P(Threads, eight_ranks_on_few_cores_all_hear_from_all) {
  constexpr int kRanks = 8;
  constexpr std::uint64_t kEach = 100;
  ClassicJob job(kRanks, GetParam());
  job.run([&](int rank) {
    std::uint64_t sent = 0, heard = 0;
    const std::uint64_t wanted = kEach * (kRanks - 1);
    while (sent < wanted || heard < wanted) {
      if (sent < wanted) {
        const int to = (rank + 1 + static_cast<int>(sent % (kRanks - 1))) % kRanks;
        const int status = photon_put_with_completion(to, 0, nullptr, nullptr, u64(0), u64(sent),
                                                      PHOTON_REQ_PWC_NO_LCE);
        ASSERT_TRUE(status == PHOTON_OK || status == PHOTON_ERROR_RESOURCE);
        if (status == PHOTON_OK) ++sent;
      }
      const Probed found = probe();
      ASSERT_EQ(found.status, PHOTON_OK);
      if (found.flag == 1) ++heard;
      if (found.flag == 0) std::this_thread::yield();
    }
    job.meet();
  });
}

}  // namespace
}  // namespace photon::test
