// Promises that no other test is about: what test and probe say of less common things, several
// posters, flags of gets, and when a source is the program's again.
#include <algorithm>
#include <atomic>

#include "classic_job.hpp"

namespace photon::test {
namespace {

class Corner : public OverGrounds {};
INSTANTIATE_TEST_SUITE_P(grounds, Corner, testing::Values(Ground::shm, Ground::sim), ground_name);

constexpr int kSomeone = PHOTON_ANY_SOURCE;

TEST_P(Corner, test_says_type_1_of_an_announced_buffer_and_who_finished_it) {
  ClassicJob job(2, GetParam());
  std::atomic<bool> was_tested = false;
  job.run([&](int rank) {
    unsigned char memory[500] = {};
    photon_rid rid = 0;
    if (rank == 1) {
      ASSERT_EQ(photon_wait_recv_buffer_rdma(0, 500, 3, &rid), PHOTON_OK);
      while (!was_tested) ClassicJob::serve();
      EXPECT_EQ(photon_send_FIN(rid, 0, PHOTON_REQ_COMPLETED), PHOTON_OK);
      return;
    }
    ASSERT_EQ(photon_post_recv_buffer_rdma(1, memory, 500, 3, &rid), PHOTON_OK);
    int flag = 7, type = 7;
    photon_status_t status{};
    EXPECT_EQ(photon_test(rid, &flag, &type, &status), 0);
    EXPECT_EQ(flag, 0);
    EXPECT_EQ(type, 1);
    was_tested = true;
    for (type = 7; flag == 0;) ASSERT_EQ(photon_test(rid, &flag, &type, &status), 0);
    EXPECT_EQ(flag, 1);
    EXPECT_EQ(type, 1);
    EXPECT_EQ(status.src_addr.global.proc_id, 1u);
    EXPECT_EQ(status.request, rid);
    EXPECT_EQ(status.size, 500u);
    EXPECT_EQ(status.tag, 3);
    EXPECT_EQ(status.error, 0);
  });
}

// The key is checked by the peer, after the call.
TEST_P(Corner, test_says_minus_1_of_an_operation_that_failed_and_then_it_is_gone) {
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    if (rank == 1) return;
    unsigned char source[8] = {};
    photon_buffer_t nowhere = {4096, 8, {77, 0}};
    photon_rid rid = 0;
    ASSERT_EQ(photon_post_os_put_direct(1, source, 8, &nowhere, 0, &rid), PHOTON_OK);
    int flag = 0, type = 7, said = 0;
    photon_status_t status{};
    while (flag == 0) said = photon_test(rid, &flag, &type, &status);
    EXPECT_EQ(said, -1);
    EXPECT_EQ(flag, 1);
    EXPECT_EQ(type, 0);
    EXPECT_EQ(status.error, 1);
    EXPECT_EQ(photon_test(rid, &flag, &type, nullptr), 1);
    EXPECT_EQ(flag, -1);
  });
}

TEST_P(Corner, remaining_of_any_rank_counts_the_operations_to_all) {
  ClassicJob job(3, GetParam());
  job.run([&](int rank) {
    if (rank != 0) {
      EXPECT_EQ(take(0, PHOTON_PROBE_LEDGER).id.u64, 1u);
      return;
    }
    for (const int peer : {1, 2})
      ASSERT_EQ(photon_put_with_completion(peer, 0, nullptr, nullptr, u64(1), u64(1), 0),
                PHOTON_OK);
    EXPECT_EQ(probe(kSomeone, PHOTON_PROBE_LEDGER).remaining, 2);
    EXPECT_EQ(probe(1, PHOTON_PROBE_LEDGER).remaining, 1);
    EXPECT_EQ(take(kSomeone, PHOTON_PROBE_EVQ).remaining, 1);
    EXPECT_EQ(take(kSomeone, PHOTON_PROBE_EVQ).remaining, 0);
  });
}

std::atomic<std::thread::id> called_in;
void note_the_thread(photon_cid) { called_in = std::this_thread::get_id(); }

TEST_P(Corner, a_callback_runs_in_the_thread_that_probes) {
  ClassicJob job(1, GetParam());
  job.run([&](int) {
    for (int i = 0; i < 20; ++i) {
      ASSERT_EQ(photon_put_with_completion(0, 0, nullptr, nullptr, u64(1), u64(2), 0), PHOTON_OK);
      const auto probe_both = [] {
        for (int taken = 0, flag = 0; taken < 2; taken += flag) {
          called_in = std::thread::id{};
          ASSERT_EQ(photon_probe_completion(kSomeone, &flag, nullptr, nullptr, nullptr,
                                            note_the_thread, PHOTON_PROBE_ANY),
                    PHOTON_OK);
          EXPECT_EQ(called_in.load(), flag != 0 ? std::this_thread::get_id() : std::thread::id{});
        }
      };
      if (i % 2 == 0)
        probe_both();
      else
        ClassicJob::in_same_rank(probe_both).join();
    }
  });
}

// Those of each thread come in its order, and none is lost.
TEST_P(Corner, two_threads_post_to_one_peer_at_once) {
  constexpr std::uint64_t kEach = 2000, kSecond = std::uint64_t{1} << 32;
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    Registered memory(2 * 64);
    auto all = job.exchange(memory.buffer());
    std::uint64_t next[] = {0, kSecond};
    if (rank == 1) {
      for (std::uint64_t i = 0; i < 2 * kEach; ++i) {
        const std::uint64_t id = take(0, PHOTON_PROBE_LEDGER).id.u64;
        ASSERT_EQ(id, next[id >> 32]);
        ++next[id >> 32];
      }
      return;
    }
    const auto post_all = [&](std::uint64_t first) {
      unsigned char source[64] = {};
      photon_buffer_t from = bare(source, 64), to = part(all[1], first == 0 ? 0 : 64, 64);
      for (std::uint64_t i = 0; i < kEach; ++i) {
        int status = PHOTON_ERROR_RESOURCE;
        while (status == PHOTON_ERROR_RESOURCE)
          status = photon_put_with_completion(1, 64, &from, &to, u64(first + i), u64(first + i), 0);
        ASSERT_EQ(status, PHOTON_OK);
      }
    };
    std::thread one = ClassicJob::in_same_rank([&] { post_all(0); });
    std::thread other = ClassicJob::in_same_rank([&] { post_all(kSecond); });
    for (std::uint64_t i = 0; i < 2 * kEach; ++i) {
      const std::uint64_t id = take(kSomeone, PHOTON_PROBE_EVQ).id.u64;
      EXPECT_EQ(id, next[id >> 32]);
      ++next[id >> 32];
    }
    one.join();
    other.join();
  });
}

TEST_P(Corner, a_get_tells_those_sides_that_its_flags_leave) {
  ClassicJob job(2, GetParam());
  unsigned char into[300] = {};  // rank 0's
  job.run([&](int rank) {
    Registered memory(300);
    fill(memory.data(), memory.size(), 5);
    auto all = job.exchange(memory.buffer());
    if (rank == 1) {
      EXPECT_EQ(take(0, PHOTON_PROBE_LEDGER).id.u64, 2u) << "of the first, without a local id";
      ASSERT_EQ(
          photon_put_with_completion(0, 0, nullptr, nullptr, u64(0), u64(9), PHOTON_REQ_PWC_NO_LCE),
          PHOTON_OK);
      EXPECT_EQ(take(0, PHOTON_PROBE_LEDGER).id.u64, 10u) << "the second was to tell nothing here";
      return;
    }
    photon_buffer_t to = bare(into, 300);
    const auto get = [&](std::uint64_t local, int flags) {
      return photon_get_with_completion(1, 300, &to, &all[1], u64(local), u64(local + 1), flags);
    };
    ASSERT_EQ(get(1, PHOTON_REQ_PWC_NO_LCE), PHOTON_OK);
    EXPECT_EQ(take().id.u64, 9u) << "it has landed by now, and says nothing here";
    EXPECT_EQ(first_wrong(into, 300, 5), 300u);
    std::fill(std::begin(into), std::end(into), 0);
    ASSERT_EQ(get(3, PHOTON_REQ_PWC_NO_RCE), PHOTON_OK);
    EXPECT_EQ(take().id.u64, 3u);
    EXPECT_EQ(first_wrong(into, 300, 5), 300u);
    std::fill(std::begin(into), std::end(into), 0);
    ASSERT_EQ(get(5, PHOTON_REQ_PWC_NO_LCE | PHOTON_REQ_PWC_NO_RCE), PHOTON_OK);
    ASSERT_EQ(
        photon_put_with_completion(1, 0, nullptr, nullptr, u64(0), u64(10), PHOTON_REQ_PWC_NO_LCE),
        PHOTON_OK);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(probe().flag, 0);
  });
  EXPECT_EQ(first_wrong(into, 300, 5), 300u) << "nobody was told, and yet it has landed";
}

// The owner's ledger is full until it is told to probe, so it takes no notice; its memory is read
// nevertheless where ranks reach it by themselves.
TEST_P(Corner, a_get_waits_for_its_notice_if_that_is_asked_for) {
  setenv("PHOTON_OVERFLOW_TOTAL_BYTES", "0", 1);
  ClassicJob job(2, GetParam(), [](photon_config_t& config) { config.cap.ledger_entries = 2; });
  std::atomic<bool> is_seen{false};
  job.run([&](int rank) {
    Registered memory(300);
    fill(memory.data(), memory.size(), 5);
    auto all = job.exchange(memory.buffer());
    if (rank == 1) {
      while (!is_seen && !testing::Test::HasFailure()) {
        ClassicJob::serve();
        std::this_thread::yield();
      }
      for (const std::uint64_t id : {100u, 101u, 2u, 4u})
        EXPECT_EQ(take(0, PHOTON_PROBE_LEDGER).id.u64, id);
      return;
    }
    for (const std::uint64_t id : {100u, 101u}) {
      ASSERT_EQ(photon_put_with_completion(1, 0, nullptr, nullptr, u64(0), u64(id),
                                           PHOTON_REQ_PWC_NO_LCE),
                PHOTON_OK);
    }
    unsigned char into[300] = {};
    photon_buffer_t to = bare(into, 300);
    const auto get = [&](std::uint64_t local, int flags) {
      return photon_get_with_completion(1, 300, &to, &all[1], u64(local), u64(local + 1), flags);
    };
    ASSERT_EQ(get(1, 0), PHOTON_OK);
    EXPECT_EQ(take(1, PHOTON_PROBE_EVQ).id.u64, 1u);
    ASSERT_EQ(get(3, PHOTON_REQ_PWC_NOTICE), PHOTON_OK);
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(probe(1, PHOTON_PROBE_EVQ).flag, 0);
    is_seen = true;
    EXPECT_EQ(take(1, PHOTON_PROBE_EVQ).id.u64, 3u);
    EXPECT_EQ(first_wrong(into, 300, 5), 300u);
  });
  unsetenv("PHOTON_OVERFLOW_TOTAL_BYTES");
}

TEST_P(Corner, a_small_send_buffer_is_its_owners_again_when_the_call_returns) {
  constexpr int kBuffers = 40;
  constexpr std::size_t kSize = 150;
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    unsigned char bytes[kSize];
    photon_rid rids[kBuffers] = {};
    for (int i = 0; rank == 0 && i < kBuffers; ++i) {
      fill(bytes, kSize, static_cast<std::uint64_t>(i));
      ASSERT_EQ(photon_post_send_buffer_rdma(1, bytes, kSize, i, &rids[i]), PHOTON_OK);
    }
    job.meet();
    for (int i = kBuffers; rank == 1 && i-- > 0;) {
      ASSERT_EQ(photon_wait_send_buffer_rdma(0, kSize, i, &rids[i]), PHOTON_OK);
      ASSERT_EQ(photon_post_os_get(rids[i], 0, bytes, kSize, i, 0), PHOTON_OK);
      ASSERT_EQ(photon_wait(rids[i]), PHOTON_OK);
      EXPECT_EQ(first_wrong(bytes, kSize, static_cast<std::uint64_t>(i)), kSize);
      EXPECT_EQ(photon_send_FIN(rids[i], 0, 0), PHOTON_OK);
    }
    for (int i = 0; rank == 0 && i < kBuffers; ++i) EXPECT_EQ(photon_wait(rids[i]), PHOTON_OK);
  });
}

// The same put with the default is sent from where it lies.
TEST_P(Corner, a_source_up_to_small_pwc_size_is_its_owners_again_when_the_call_returns) {
  constexpr std::uint64_t kPuts = 100, kSize = 900;
  ClassicJob job(2, GetParam(), [](photon_config_t& config) {
    config.cap.small_pwc_size = 1024;
    config.cap.ledger_entries = 2;
  });
  job.run([&](int rank) {
    Registered memory(kPuts * kSize);
    auto all = job.exchange(memory.buffer());
    unsigned char source[kSize];
    for (std::uint64_t i = 0; rank == 0 && i < kPuts; ++i) {
      fill(source, kSize, i);
      photon_buffer_t from = bare(source, kSize), to = part(all[1], i * kSize, kSize);
      ASSERT_EQ(photon_put_with_completion(1, kSize, &from, &to, u64(i), u64(i), 0), PHOTON_OK);
    }
    for (std::uint64_t i = 0; rank == 0 && i < kPuts; ++i)
      EXPECT_EQ(take(1, PHOTON_PROBE_EVQ).id.u64, i);
    for (std::uint64_t i = 0; rank == 1 && i < kPuts; ++i) {
      ASSERT_EQ(take(0, PHOTON_PROBE_LEDGER).id.u64, i);
      EXPECT_EQ(first_wrong(memory.data() + i * kSize, kSize, i), kSize);
    }
    job.meet();
  });
}

// More than the context copies by itself; also where a part of the ids is given by address.
TEST_P(Corner, a_source_up_to_a_large_small_pwc_size_is_its_owners_again_too) {
  constexpr std::uint64_t kPuts = 300, kSize = 4096;
  ClassicJob job(2, GetParam(), [](photon_config_t& config) {
    config.cap.small_pwc_size = kSize;
    config.cap.ledger_entries = 2;
  });
  job.run([&](int rank) {
    Registered memory(kPuts * kSize);
    auto all = job.exchange(memory.buffer());
    std::vector<unsigned char> source(kSize);
    for (std::uint64_t i = 0; rank == 0 && i < kPuts; ++i) {
      const std::uint64_t size = i % 5 == 4 ? 1025 : kSize;
      fill(source.data(), size, i);
      photon_buffer_t from = bare(source.data(), size), to = part(all[1], i * kSize, size);
      const photon_cid local = i % 3 == 2 ? bytes_id(&i, 8) : u64(i);
      ASSERT_EQ(photon_put_with_completion(1, size, &from, &to, local, u64(i), 0), PHOTON_OK);
    }
    std::vector<bool> seen(kPuts);  // local ids come in any order
    for (std::uint64_t i = 0; rank == 0 && i < kPuts; ++i) {
      const photon_cid id = take(1, PHOTON_PROBE_EVQ).id;
      const std::uint64_t value =
          id.size == 0 ? id.u64 : *static_cast<const std::uint64_t*>(id.data);
      ASSERT_LT(value, kPuts);
      EXPECT_FALSE(seen[value]);
      seen[value] = true;
      EXPECT_EQ(id.size, value % 3 == 2 ? 8u : 0u);
    }
    for (std::uint64_t i = 0; rank == 1 && i < kPuts; ++i) {
      const std::uint64_t size = i % 5 == 4 ? 1025 : kSize;
      ASSERT_EQ(take(0, PHOTON_PROBE_LEDGER).id.u64, i);
      EXPECT_EQ(first_wrong(memory.data() + i * kSize, size, i), size);
    }
    job.meet();
  });
}

}  // namespace
}  // namespace photon::test
