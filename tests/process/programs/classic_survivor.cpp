// A classic job of four, of which rank 1 is killed in the middle of its work: no call of the others
// waits for it, those that need it fail, and the others can go on among themselves.
//
//   classic_survivor collectives|rendezvous MICROSECONDS     until the end of rank 1, from its
//   start
#include <photon.h>

#include <signal.h>
#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

namespace {

constexpr int kRanks = 4, kVictim = 1;
constexpr std::uint64_t kBytes = 100'000;

[[noreturn]] void die(const char* what) {
  std::printf("classic_survivor: %s\n", what);
  std::fflush(stdout);
  std::_Exit(1);
}

// The kernel ends us, wherever we are then.
void end_after(long microseconds) {
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGKILL;
  timer_t timer{};
  const itimerspec when{{0, 0}, {microseconds / 1'000'000, microseconds % 1'000'000 * 1000 + 1}};
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
      timer_settime(timer, 0, &when, nullptr) != 0)
    die("no timer");
}

photon_cid no_id() {
  photon_cid id{};
  return id;
}

// An error, or the sum of all ranks' `mine` in `sum`.
int add_up(std::vector<int> active, std::int64_t mine, std::int64_t& sum) {
  photon_coll_op operation = PHOTON_COLL_OP_SUM;
  photon_rid rid = 0;
  const int prepared =
      photon_collective_init_new_comm(active.data(), static_cast<int>(active.size()), kRanks,
                                      PHOTON_COLL_ALLREDUCE, no_id(), &rid, 0);
  if (prepared != PHOTON_OK) return prepared;
  return photon_collective_join(rid, &mine, &sum, 1, PHOTON_INT64, &operation);
}

// All who live join every round, until they have agreed that each of them has met a failure.
void reduce(int rank) {
  std::int64_t failed = 0, all_failed = 0;
  for (std::int64_t round = 0; all_failed < kRanks - 1; ++round) {
    std::int64_t sum = -1;
    if (add_up({0, 1, 2, 3}, round * rank, sum) != PHOTON_OK)
      failed = 1;
    else if (failed != 0)
      die("a reduction succeeded without rank 1");
    else if (sum != round * 6)
      die("a sum is wrong");
    if (rank == kVictim) continue;  // alone, and never told: it ends in here
    if (add_up({0, 2, 3}, failed, all_failed) != PHOTON_OK) die("the others cannot go on");
    if (all_failed < failed || all_failed > kRanks - 1) die("a sum of the others is wrong");
  }
}

// One buffer to the peer and one from it; false: an error.
bool lend(int peer, std::vector<unsigned char>& own, std::vector<unsigned char>& other, int tag) {
  photon_rid mine = 0, theirs = 0;
  if (photon_post_recv_buffer_rdma(peer, own.data(), kBytes, tag, &mine) != PHOTON_OK) return false;
  bool good = photon_wait_recv_buffer_rdma(peer, kBytes, tag, &theirs) == PHOTON_OK;
  if (good) {
    good = photon_post_os_put(theirs, peer, other.data(), kBytes, tag, 0) == PHOTON_OK &&
           photon_wait(theirs) == PHOTON_OK;
    good = photon_send_FIN(theirs, peer, PHOTON_REQ_COMPLETED) == PHOTON_OK && good;
  }
  return photon_wait(mine) == PHOTON_OK && good;  // whatever came before, this wait ends
}

void meet(int rank) {
  std::vector<unsigned char> own(kBytes), other(kBytes);
  for (int tag = 0;; ++tag) {
    if (rank == kVictim) {
      for (const int peer : {0, 2, 3})
        if (!lend(peer, own, other, tag)) die("rank 1 met an error");
      continue;
    }
    std::memset(other.data(), rank + tag % 50, kBytes);
    if (!lend(kVictim, own, other, tag)) break;
  }
  const int next = rank == 0 ? 2 : rank == 2 ? 3 : 0, before = rank == 0 ? 3 : rank == 2 ? 0 : 2;
  std::memset(other.data(), 100 + rank, kBytes);
  photon_rid mine = 0, theirs = 0;
  if (photon_post_recv_buffer_rdma(before, own.data(), kBytes, -5, &mine) != PHOTON_OK ||
      photon_wait_recv_buffer_rdma(next, kBytes, -5, &theirs) != PHOTON_OK ||
      photon_post_os_put(theirs, next, other.data(), kBytes, -5, 0) != PHOTON_OK ||
      photon_wait(theirs) != PHOTON_OK || photon_send_FIN(theirs, next, 0) != PHOTON_OK ||
      photon_wait(mine) != PHOTON_OK)
    die("the others cannot go on");
  for (const unsigned char byte : own)
    if (byte != 100 + before) die("a byte is wrong");
  if (photon_wait_recv_buffer_rdma(kVictim, kBytes, 1, &theirs) == PHOTON_OK)
    die("the dead lent a buffer");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) die("what, and when?");
  photon_config_t config;
  std::memset(&config, 0, sizeof config);
  if (photon_init(&config) != PHOTON_OK || config.nproc != kRanks) die("needs four ranks");
  if (config.address == kVictim) end_after(std::strtol(argv[2], nullptr, 10));
  if (std::string_view(argv[1]) == "collectives")
    reduce(config.address);
  else
    meet(config.address);
  std::printf("rank %d went on\n", config.address);
  return photon_finalize();
}
