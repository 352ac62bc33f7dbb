// Met buffers that one thread ends while others wait for them, and what is refused meanwhile.
#include <atomic>
#include <latch>

#include "classic_job.hpp"

namespace photon::test {
namespace {

class MatchedBufferThreads : public OverGrounds {};
INSTANTIATE_TEST_SUITE_P(grounds, MatchedBufferThreads, testing::Values(Ground::shm, Ground::sim),
                         ground_name);

constexpr std::size_t kManyBytes = std::size_t{4} << 20;
constexpr int kNobody = 9;  // announcing to it is refused, after detached were looked at

// Puts into a met buffer of rank 1, which all are under way. Each has a part of its own: what two
// that no fence keeps apart put into one place is written by both ranks at the same time.
void put_in_parts(photon_rid rid, std::vector<unsigned char>& bytes, std::size_t parts_count) {
  const std::size_t each = kManyBytes / parts_count;
  for (std::size_t i = 0; i < parts_count; ++i)
    ASSERT_EQ(photon_post_os_put(rid, 1, bytes.data() + i * each, each, 1, i * each), PHOTON_OK);
}

// Rank 1 lends a buffer. Rank 0 posts into it, and calls `end` while other threads of it wait by
// `wait`; all of them return.
template <class Wait, class End>
void end_what_others_wait_for(Ground ground, Wait wait, End end) {
  constexpr int kRounds = 30, kWaiters = 2;
  ClassicJob job(2, ground);
  job.run([&](int rank) {
    std::vector<unsigned char> bytes(kManyBytes);
    for (int round = 0; round < kRounds; ++round) {
      photon_rid rid = 0;
      if (rank == 1) {
        ASSERT_EQ(photon_post_recv_buffer_rdma(0, bytes.data(), kManyBytes, 1, &rid), PHOTON_OK);
        ASSERT_EQ(photon_wait(rid), PHOTON_OK);
        continue;
      }
      ASSERT_EQ(photon_wait_recv_buffer_rdma(1, kManyBytes, 1, &rid), PHOTON_OK);
      put_in_parts(rid, bytes, 4);
      std::atomic<int> returned{0};
      std::latch started(kWaiters + 1);
      std::vector<std::thread> waiters;
      for (int i = 0; i < kWaiters; ++i)
        waiters.push_back(ClassicJob::in_same_rank([&, rid] {
          started.arrive_and_wait();
          wait(rid);
          ++returned;
        }));
      started.arrive_and_wait();
      EXPECT_EQ(end(rid), PHOTON_OK);
      while (returned < kWaiters)
        EXPECT_EQ(photon_post_send_request_rdma(kNobody, 1, 1, nullptr), PHOTON_ERROR);
      for (std::thread& waiter : waiters) waiter.join();
      int flag = 0;
      EXPECT_EQ(photon_test(rid, &flag, nullptr, nullptr), 1);
    }
    job.meet();  // rank 1 has heard of the last FIN: no put reads `bytes` any more
  });
}

int fin_at_once(photon_rid rid) { return photon_send_FIN(rid, 1, PHOTON_REQ_COMPLETED); }

TEST_P(MatchedBufferThreads, a_wait_ends_when_another_thread_sends_the_fin_that_says_completed) {
  end_what_others_wait_for(
      GetParam(), [](photon_rid rid) { static_cast<void>(photon_wait(rid)); }, fin_at_once);
}

TEST_P(MatchedBufferThreads, a_wait_ends_when_another_thread_cancels) {
  end_what_others_wait_for(
      GetParam(), [](photon_rid rid) { static_cast<void>(photon_wait(rid)); },
      [](photon_rid rid) {
        const int said = photon_cancel(rid, 0);  // or a wait was first
        int flag = 0;
        return said == PHOTON_ERROR ? photon_test(rid, &flag, nullptr, nullptr) - 1 : said;
      });
}

TEST_P(MatchedBufferThreads, a_wait_for_any_and_one_by_name_both_end) {
  std::atomic<int> turn{0};
  end_what_others_wait_for(
      GetParam(),
      [&](photon_rid rid) {
        int proc = 0;
        photon_rid other = 0;
        static_cast<void>(turn++ % 2 == 0 ? photon_wait(rid) : photon_wait_any(&proc, &other));
      },
      fin_at_once);
}

// Few requests, of which a test takes all that are left. They stay under way, since no thread of
// the library goes on with them, and a call of rank 0 moves less than it posts.
class UsedUp {
 public:
  static constexpr std::size_t kBytes = 2 * kManyBytes;

  // Puts to rank 1, each into a part of its own of the last kBytes of `to`, and too long to be over
  // at once; their requests are kept. Past the classic calls, which would make room.
  void take_all(photon_buffer_t to, const unsigned char* source) {
    constexpr std::size_t kEach = kBytes / kRequests;
    ph_put_args args{};
    args.size = sizeof args;
    args.source = source;
    args.size_bytes = kEach;
    args.target = {to.addr + to.size - kBytes, to.priv.key0};
    args.flags = PH_NO_RCE | PH_DELIVERED;
    ph_request request = PH_REQUEST_NONE;
    args.request = &request;
    ph_status status = PH_OK;
    while ((status = ph_put(classic::current()->context(), 1, &args)) == PH_OK) {
      ASSERT_NE(request, PH_REQUEST_NONE);
      kept_.push_back(request);
      ASSERT_LE(kept_.size(), kRequests);
      args.target.address += kEach;
    }
    EXPECT_EQ(status, PH_AGAIN);
    EXPECT_FALSE(kept_.empty());
  }
  void give_back() {
    for (ph_request& request : kept_)
      EXPECT_EQ(ph_wait_request(classic::current()->context(), &request, nullptr, PH_FOREVER),
                PH_OK);
    kept_.clear();
  }

 private:
  static constexpr std::size_t kRequests = 16;
  const Variable few_{"PHOTON_REQUESTS", "16"};
  const Variable no_thread_{"PHOTON_PROGRESS_THREAD", "off"};
  std::vector<ph_request> kept_;
};

TEST_P(MatchedBufferThreads, a_cancel_tells_the_owner_though_no_request_is_left) {
  UsedUp few;
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    Registered memory(UsedUp::kBytes);
    auto all = job.exchange(memory.buffer());
    std::vector<unsigned char> bytes(kManyBytes);
    photon_rid rid = 0;
    if (rank == 1) {
      ASSERT_EQ(photon_post_recv_buffer_rdma(0, bytes.data(), kManyBytes, 1, &rid), PHOTON_OK);
      EXPECT_EQ(photon_wait(rid), PHOTON_OK);
      job.meet();
      return;
    }
    ASSERT_EQ(photon_wait_recv_buffer_rdma(1, kManyBytes, 1, &rid), PHOTON_OK);
    ASSERT_EQ(photon_post_os_put(rid, 1, bytes.data(), kManyBytes, 1, 0), PHOTON_OK);
    few.take_all(all[1], bytes.data());
    EXPECT_EQ(photon_cancel(rid, 0), PHOTON_OK);
    EXPECT_EQ(photon_cancel(rid, 0), PHOTON_ERROR);
    few.give_back();
    job.meet();
  });
}

struct Posting {
  photon_buffer_t to;
  unsigned char* bytes;
};

int post_direct(const Posting& what) {
  photon_rid rid = 0;
  photon_buffer_t to = what.to;
  const int said = photon_post_os_put_direct(1, what.bytes, kManyBytes, &to, 0, &rid);
  if (said == PHOTON_OK) {
    EXPECT_EQ(photon_wait(rid), PHOTON_OK);
  }
  return said;
}

int post_put(const Posting& what, photon_cid id) {
  photon_buffer_t to = what.to, from = bare(what.bytes, kManyBytes);
  const int said = photon_put_with_completion(1, kManyBytes, &from, &to, id, id, 0);
  if (said == PHOTON_OK) {
    EXPECT_EQ(take().status, PHOTON_OK);
  }
  return said;
}

int post_get(const Posting& what) {
  photon_buffer_t from = what.to, to = bare(what.bytes, kManyBytes);
  const int said = photon_get_with_completion(1, kManyBytes, &to, &from, u64(1), u64(2), 0);
  if (said == PHOTON_OK) {
    EXPECT_EQ(take().status, PHOTON_OK);
  }
  return said;
}

int post_atomic(const Posting& what) {
  std::uint64_t one = 1;
  photon_buffer_t from = bare(&one, sizeof one), to = what.to;
  const int said = photon_atomic(1, &from, &to, PHOTON_UINT64, PHOTON_ATOMIC_SUM, 1, 2, 0);
  if (said == PHOTON_OK) {
    EXPECT_EQ(take().status, PHOTON_OK);
  }
  return said;
}

// A put into a met buffer that goes on after its rid went holds a request until somebody looks.
struct Allowed {
  int refusals;
  bool is_told;  // rank 1 gets an id
};

template <class Post>
void post_where_only_detached_requests_hold_room(Ground ground, Allowed allowed, Post post) {
  UsedUp few;
  ClassicJob job(2, ground);
  job.run([&](int rank) {
    Registered memory(kManyBytes + UsedUp::kBytes);  // for what is posted, and to use requests up
    auto all = job.exchange(memory.buffer());
    std::vector<unsigned char> bytes(2 * kManyBytes);
    photon_rid rid = 0;
    if (rank == 1) {
      ASSERT_EQ(photon_post_recv_buffer_rdma(0, bytes.data(), kManyBytes, 1, &rid), PHOTON_OK);
      EXPECT_EQ(photon_wait(rid), PHOTON_OK);
      job.meet();
      if (allowed.is_told) {
        EXPECT_EQ(take(0, PHOTON_PROBE_LEDGER).status, PHOTON_OK);
      }
      job.meet();
      return;
    }
    ASSERT_EQ(photon_wait_recv_buffer_rdma(1, kManyBytes, 1, &rid), PHOTON_OK);
    put_in_parts(rid, bytes, 8);
    ASSERT_EQ(photon_send_FIN(rid, 1, PHOTON_REQ_COMPLETED), PHOTON_OK);
    job.meet();  // all has landed
    few.take_all(all[1], bytes.data() + kManyBytes);
    int refusals = 0, said = PHOTON_ERROR_RESOURCE;
    while ((said = post({all[1], bytes.data()})) == PHOTON_ERROR_RESOURCE && refusals < 9)
      ++refusals;
    EXPECT_EQ(said, PHOTON_OK);
    EXPECT_LE(refusals, allowed.refusals);
    few.give_back();
    job.meet();
  });
}

TEST_P(MatchedBufferThreads, transfers_that_go_on_without_their_rid_leave_room_for_every_call) {
  const auto check = [](Allowed allowed, auto post) {
    post_where_only_detached_requests_hold_room(GetParam(), allowed, post);
  };
  check({0, false}, post_direct);
  check({1, true}, [](const Posting& what) { return post_put(what, u64(5)); });
  check({0, true}, [](const Posting& what) {
    std::uint64_t word = 7;
    return post_put(what, bytes_id(&word, sizeof word));
  });
  check({0, true}, post_get);
  check({0, true}, post_atomic);
}

TEST_P(MatchedBufferThreads, who_waits_meets_the_oldest_whatever_another_thread_looks_at) {
  constexpr int kBuffers = 3000;
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    unsigned char byte = 0;
    if (rank == 0) {
      for (int tag = 0; tag < kBuffers; ++tag) {
        int said = PHOTON_ERROR_RESOURCE;
        while (said == PHOTON_ERROR_RESOURCE)
          said = photon_post_recv_buffer_rdma(1, &byte, 1, tag, nullptr);
        ASSERT_EQ(said, PHOTON_OK);
      }
      job.meet();
      return;
    }
    std::atomic<bool> over{false};
    std::thread looker = ClassicJob::in_same_rank([&] {
      int flag = 0;
      while (!over) static_cast<void>(photon_probe_ledger(0, &flag, PHOTON_RECV_LEDGER, nullptr));
    });
    for (int tag = 0; tag < kBuffers; ++tag) {
      photon_rid rid = 0;
      int flag = 0;
      photon_status_t status{};
      EXPECT_EQ(photon_wait_recv_buffer_rdma(0, 1, PHOTON_ANY_TAG, &rid), PHOTON_OK);
      EXPECT_EQ(photon_test(rid, &flag, nullptr, &status), 0);
      EXPECT_EQ(status.tag, tag);
      EXPECT_EQ(photon_send_FIN(rid, 0, PHOTON_REQ_COMPLETED), PHOTON_OK);
      if (status.tag != tag) break;
    }
    over = true;
    looker.join();
    job.meet();
  });
}

}  // namespace
}  // namespace photon::test
