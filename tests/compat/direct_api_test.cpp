// Direct puts and gets, and the rids that name them.
#include <algorithm>
#include <atomic>

#include "classic_job.hpp"

namespace photon::test {
namespace {

class Direct : public OverGrounds {};
INSTANTIATE_TEST_SUITE_P(grounds, Direct, testing::Values(Ground::shm, Ground::sim), ground_name);

TEST_P(Direct, a_put_that_was_waited_for_is_in_the_peers_memory) {
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    Registered memory(1 << 20);
    auto all = job.exchange(memory.buffer());
    for (const std::size_t size : {8U, 200U, 5000U, 1U << 20}) {
      if (rank == 0) {
        std::vector<unsigned char> source(size);
        fill(source.data(), size, size);
        photon_rid rid = 0;
        ASSERT_EQ(photon_post_os_put_direct(1, source.data(), size, &all[1], 0, &rid), PHOTON_OK);
        EXPECT_NE(rid, 0u);
        EXPECT_EQ(photon_wait(rid), PHOTON_OK);
      }
      job.meet();
      EXPECT_TRUE(rank == 0 || first_wrong(memory.data(), size, size) == size);
      job.meet();
    }
  });
}

TEST_P(Direct, vectors_move_all_their_pieces_under_one_rid) {
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    Registered memory(4096);
    auto all = job.exchange(memory.buffer());
    if (rank == 0) {
      unsigned char one[100], two[300];
      fill(one, sizeof one, 1);
      fill(two, sizeof two, 2);
      photon_buffer_t first = part(all[1], 0, 100), second = part(all[1], 1000, 300);
      void* pieces[] = {one, two};
      uint64_t sizes[] = {100, 300};
      photonBuffer remote[] = {&first, &second};
      photon_rid rid = 0;
      ASSERT_EQ(photon_post_os_putv_direct(1, pieces, sizes, remote, 2, 0, &rid), PHOTON_OK);
      ASSERT_EQ(photon_wait(rid), PHOTON_OK);
      std::memset(one, 0, sizeof one);
      std::memset(two, 0, sizeof two);
      ASSERT_EQ(photon_post_os_getv_direct(1, pieces, sizes, remote, 2, 0, &rid), PHOTON_OK);
      ASSERT_EQ(photon_wait(rid), PHOTON_OK);
      EXPECT_EQ(first_wrong(one, 100, 1), 100u);
      EXPECT_EQ(first_wrong(two, 300, 2), 300u);
      EXPECT_EQ(photon_post_os_putv_direct(1, pieces, sizes, remote, 0, 0, &rid), PHOTON_ERROR);
      EXPECT_EQ(rid, 0u);
    }
    job.meet();
  });
}

TEST_P(Direct, test_says_0_until_over_then_1_with_the_status_then_unknown) {
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    Registered memory(64);
    auto all = job.exchange(memory.buffer());
    if (rank == 0) {
      unsigned char source[64] = {};
      photon_rid rid = 0;
      ASSERT_EQ(photon_post_os_put_direct(1, source, 64, &all[1], 0, &rid), PHOTON_OK);
      int flag = 0, type = 9;
      photon_status_t status{};
      while (flag == 0) ASSERT_EQ(photon_test(rid, &flag, &type, &status), 0);
      EXPECT_EQ(flag, 1);
      EXPECT_EQ(type, 0);
      EXPECT_EQ(status.request, rid);
      EXPECT_EQ(status.size, 64u);
      EXPECT_EQ(status.src_addr.global.proc_id, 1u);
      EXPECT_EQ(status.error, 0);
      EXPECT_EQ(photon_test(rid, &flag, &type, nullptr), 1);
      EXPECT_EQ(flag, -1);
      EXPECT_EQ(photon_test(0, &flag, nullptr, nullptr), 1);
      EXPECT_EQ(photon_wait(rid), PHOTON_ERROR);
      EXPECT_EQ(photon_cancel(rid, 0), PHOTON_ERROR);
    }
    job.meet();
  });
}

// A defect of the original: photon_wait() took whatever completion it met.
TEST_P(Direct, a_wait_swallows_no_other_completion) {
  constexpr std::uint64_t kPuts = 50;
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    Registered memory(4096);
    auto all = job.exchange(memory.buffer());
    if (rank == 0) {
      unsigned char source[8] = {};
      photon_buffer_t from = bare(source, 8);
      // A get in no order with a put reads bytes of its own.
      unsigned char destination[4096 - 8];
      photon_buffer_t behind = all[1];
      behind.addr += 8;
      behind.size -= 8;
      std::vector<photon_rid> rids(kPuts);
      for (std::uint64_t i = 0; i < kPuts; ++i) {
        ASSERT_EQ(photon_put_with_completion(1, 8, &from, &all[1], u64(i), u64(i), 0), PHOTON_OK);
        ASSERT_EQ(photon_post_os_get_direct(1, destination, 4096 - 8, &behind, 0, &rids[i]),
                  PHOTON_OK);
      }
      EXPECT_EQ(photon_wait(rids.back()), PHOTON_OK);
      for (std::uint64_t i = 0; i + 1 < kPuts; ++i) EXPECT_EQ(photon_wait(rids[i]), PHOTON_OK);
      for (std::uint64_t i = 0; i < kPuts; ++i)
        EXPECT_EQ(take(PHOTON_ANY_SOURCE, PHOTON_PROBE_EVQ).id.u64, i);
    } else {
      for (std::uint64_t i = 0; i < kPuts; ++i) ASSERT_EQ(take().id.u64, i);
    }
    job.meet();
  });
}

TEST_P(Direct, wait_any_gives_each_once_and_then_an_error) {
  constexpr int kGets = 20;
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    Registered memory(1024);
    auto all = job.exchange(memory.buffer());
    if (rank == 0) {
      unsigned char into[1024];
      std::vector<photon_rid> rids;
      for (int i = 0; i < kGets; ++i) {
        photon_rid rid = 0;
        ASSERT_EQ(photon_post_os_get_direct(1, into, 1024, &all[1], 0, &rid), PHOTON_OK);
        rids.push_back(rid);
      }
      for (int i = 0; i < kGets; ++i) {
        int proc = -1;
        photon_rid rid = 0;
        ASSERT_EQ(photon_wait_any(&proc, &rid), PHOTON_OK);
        EXPECT_EQ(proc, 1);
        const auto found = std::find(rids.begin(), rids.end(), rid);
        ASSERT_NE(found, rids.end());
        rids.erase(found);
      }
      int proc = 5;
      photon_rid rid = 5;
      EXPECT_EQ(photon_wait_any(&proc, &rid), PHOTON_ERROR);
      EXPECT_EQ(proc, -1);
      EXPECT_EQ(rid, 0u);
      EXPECT_EQ(photon_wait_any_ledger(&proc, &rid), PHOTON_ERROR);
    }
    job.meet();
  });
}

TEST_P(Direct, a_null_rid_means_that_nobody_asks) {
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    Registered memory(64);
    auto all = job.exchange(memory.buffer());
    if (rank == 0) {
      unsigned char source[8] = {1};
      for (int i = 0; i < 10000; ++i) {
        int status = photon_post_os_put_direct(1, source, 8, &all[1], 0, nullptr);
        while (status == PHOTON_ERROR_RESOURCE) {
          EXPECT_EQ(probe().flag, 0);
          std::this_thread::yield();
          status = photon_post_os_put_direct(1, source, 8, &all[1], 0, nullptr);
        }
        ASSERT_EQ(status, PHOTON_OK);
      }
      // The bytes are there before their place goes.
      EXPECT_EQ(ph_flush(classic::current()->context(), 1, PH_FOREVER), PH_OK);
      EXPECT_EQ(probe().flag, 0);
    }
    job.meet();
  });
}

TEST_P(Direct, a_bad_rank_or_key_is_an_error_and_costs_no_rid) {
  ClassicJob job(2, GetParam());
  job.run([&](int) {
    unsigned char word[8] = {};
    photon_buffer_t to = bare(word, 8);
    photon_rid rid = 9;
    EXPECT_EQ(photon_post_os_put_direct(5, word, 8, &to, 0, &rid), PHOTON_ERROR);
    EXPECT_EQ(rid, 0u);
    EXPECT_EQ(photon_post_os_get_direct(-1, word, 8, &to, 0, &rid), PHOTON_ERROR);
    EXPECT_EQ(photon_post_os_get_direct(0, word, 8, nullptr, 0, &rid), PHOTON_ERROR);
  });
}

TEST_P(Direct, threads_that_wait_for_one_rid_get_it_once) {
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    Registered memory(1 << 16);
    auto all = job.exchange(memory.buffer());
    for (int i = 0; rank == 0 && i < 50; ++i) {
      std::vector<unsigned char> into(1 << 16);
      photon_rid rid = 0;
      ASSERT_EQ(photon_post_os_get_direct(1, into.data(), into.size(), &all[1], 0, &rid),
                PHOTON_OK);
      int other = PHOTON_OK;
      std::thread second = ClassicJob::in_same_rank([&] { other = photon_wait(rid); });
      const int mine = photon_wait(rid);
      second.join();
      EXPECT_EQ((mine == PHOTON_OK) + (other == PHOTON_OK), 1);
    }
    job.meet();
  });
}

// Old programs wait in a barrier of their own for what others put into their memory.
TEST(DirectWait, ends_though_the_peer_makes_no_call) {
  for (const Ground ground : {Ground::shm, Ground::sim}) {
    ClassicJob job(2, ground);
    std::atomic<bool> landed = false;
    job.run([&](int rank) {
      Registered memory(300);
      auto all = job.exchange(memory.buffer());
      if (rank == 0) {
        unsigned char source[300];
        for (const std::size_t size : {8U, 300U}) {
          fill(source, size, size);
          photon_rid rid = 0;
          ASSERT_EQ(photon_post_os_put_direct(1, source, size, &all[1], 0, &rid), PHOTON_OK);
          EXPECT_EQ(photon_wait(rid), PHOTON_OK);
        }
        landed = true;
      } else {
        while (!landed) std::this_thread::yield();
        EXPECT_EQ(first_wrong(memory.data(), 300, 300), 300u);
      }
      job.meet();
    });
  }
}

}  // namespace
}  // namespace photon::test
