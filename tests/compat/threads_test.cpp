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

TEST_P(Threads, a_failed_call_leaves_others_free_to_go_on) {
  ClassicJob job(1, GetParam());
  job.run([&](int) {
    unsigned char word[8] = {};
    photon_buffer_t bad = bare(word, 8);
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(photon_put_with_completion(9, 8, &bad, &bad, u64(1), u64(1), 0), PHOTON_ERROR);
      EXPECT_EQ(photon_put_with_completion(0, 8, nullptr, &bad, u64(1), u64(1), 0), PHOTON_ERROR);
    }
    ClassicJob::in_same_rank([] {
      EXPECT_EQ(photon_put_with_completion(0, 0, nullptr, nullptr, u64(1), u64(2), 0), PHOTON_OK);
      EXPECT_EQ(take().id.u64, 1u);
      EXPECT_EQ(take().id.u64, 2u);
    }).join();
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
