// Waits sleep. A defect of the original: its waits spun, without yielding.
#include <time.h>

#include <atomic>
#include <tuple>

#include "classic_job.hpp"

namespace photon::test {
namespace {

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

using Clock = std::chrono::steady_clock;

// What rank 0 waits for, and what rank 1 does for it when it has computed.
struct Wait {
  const char* name;
  void (*begin)(photon_rid& rid);  // what rank 0 posts before
  int (*wait)(photon_rid& rid);
  void (*answer)();
};

std::vector<unsigned char>& bytes_here() {
  static thread_local std::vector<unsigned char> bytes(1000);
  return bytes;
}
void post_nothing(photon_rid&) {}
void announce(photon_rid& rid) {
  ASSERT_EQ(photon_post_recv_buffer_rdma(1, bytes_here().data(), 1000, 3, &rid), PHOTON_OK);
}
void finish_theirs() {
  photon_rid rid = 0;
  ASSERT_EQ(photon_wait_recv_buffer_rdma(0, 1000, 3, &rid), PHOTON_OK);
  ASSERT_EQ(photon_send_FIN(rid, 0, PHOTON_REQ_COMPLETED), PHOTON_OK);
}
void enter(photon_coll kind, photon_rid& rid) {
  ASSERT_EQ(photon_collective_init(kind, u64(1), &rid, 0), PHOTON_OK);
}
int join(photon_rid rid) {
  std::int64_t mine = 1, sum = 0;
  photon_coll_op op = PHOTON_COLL_OP_SUM;
  return photon_collective_join(rid, &mine, &sum, 1, PHOTON_INT64, &op);
}
template <photon_coll kind>
Wait collective(const char* name) {
  return {name, [](photon_rid& rid) { enter(kind, rid); },
          [](photon_rid& rid) { return join(rid); },
          [] {
            photon_rid rid = 0;
            enter(kind, rid);
            ASSERT_EQ(join(rid), PHOTON_OK);
          }};
}

std::vector<Wait> all_waits() {
  return {
      {"wait", announce, [](photon_rid& rid) { return photon_wait(rid); }, finish_theirs},
      {"wait_any_ledger", announce,
       [](photon_rid& rid) {
         int proc = 0;
         return photon_wait_any_ledger(&proc, &rid);
       },
       finish_theirs},
      {"wait_recv_buffer", post_nothing,
       [](photon_rid& rid) { return photon_wait_recv_buffer_rdma(1, 1000, 3, &rid); },
       [] {
         ASSERT_EQ(photon_post_recv_buffer_rdma(0, bytes_here().data(), 1000, 3, nullptr),
                   PHOTON_OK);
       }},
      {"wait_send_buffer", post_nothing,
       [](photon_rid& rid) { return photon_wait_send_buffer_rdma(1, 1000, 3, &rid); },
       [] {
         ASSERT_EQ(photon_post_send_buffer_rdma(0, bytes_here().data(), 1000, 3, nullptr),
                   PHOTON_OK);
       }},
      {"wait_send_request", post_nothing,
       [](photon_rid&) { return photon_wait_send_request_rdma(3) == 1 ? PHOTON_OK : PHOTON_ERROR; },
       [] { ASSERT_EQ(photon_post_send_request_rdma(0, 1000, 3, nullptr), PHOTON_OK); }},
      collective<PHOTON_COLL_BARRIER>("barrier"),
      collective<PHOTON_COLL_ALLREDUCE>("allreduce"),
  };
}

class SleepingWaits : public testing::TestWithParam<std::tuple<Ground, Wait>> {};
INSTANTIATE_TEST_SUITE_P(kinds, SleepingWaits,
                         testing::Combine(testing::Values(Ground::shm, Ground::sim),
                                          testing::ValuesIn(all_waits())),
                         [](const auto& one) {
                           return name_of(std::get<0>(one.param)) + "_" +
                                  std::get<1>(one.param).name;
                         });

// Runs `wait` on rank 0 while rank 1 computes for 0.3 s before it says `answer`.
void expect_sleep(ClassicJob& job, int rank, const std::function<int()>& wait,
                  const std::function<void()>& answer) {
  static std::atomic<bool> is_answered;
  if (rank == 1) is_answered = false;
  job.meet();
  if (rank == 0) {
    const double before = thread_seconds();
    EXPECT_EQ(wait(), PHOTON_OK);
    // A wait that spins takes all of it. The thread sanitizer makes ten of each instruction.
    EXPECT_LT(thread_seconds() - before, PHOTON_UNDER_TSAN ? 0.25 : 0.1);
    EXPECT_TRUE(is_answered) << "there was nothing to wait for";
    return;
  }
  const auto end = Clock::now() + std::chrono::milliseconds(300);
  while (Clock::now() < end) {
  }
  is_answered = true;
  answer();
}

TEST_P(SleepingWaits, take_little_of_a_processor_while_the_peer_computes) {
  const Wait& kind = std::get<1>(GetParam());
  ClassicJob job(2, std::get<0>(GetParam()));
  job.run([&](int rank) {
    photon_rid rid = 0;
    if (rank == 0) kind.begin(rid);
    expect_sleep(
        job, rank, [&] { return kind.wait(rid); }, kind.answer);
    if (rank == 0 && std::string(kind.name).ends_with("_buffer")) {
      EXPECT_EQ(photon_send_FIN(rid, 1, PHOTON_REQ_COMPLETED), PHOTON_OK);
    }
    job.meet();
  });
}

// Without the thread that serves peers the bytes come when rank 1 has computed, and meets.
TEST(SleepingWaitsForGets, take_little_of_a_processor_while_the_peer_computes) {
  const Variable no_thread("PHOTON_PROGRESS_THREAD", "off");
  for (const bool any : {false, true}) {
    ClassicJob job(2, Ground::sim);
    job.run([&](int rank) {
      Registered memory(64);
      auto all = job.exchange(memory.buffer());
      unsigned char into[64];
      photon_rid rid = 0, over = 0;
      int proc = -1;
      const auto wait = [&] {
        const int said = photon_post_os_get_direct(1, into, 64, &all[1], 0, &rid);
        if (said != PHOTON_OK) return said;
        return any ? photon_wait_any(&proc, &over) : photon_wait(rid);
      };
      expect_sleep(job, rank, wait, [] {});
      job.meet();
    });
  }
}

}  // namespace
}  // namespace photon::test
