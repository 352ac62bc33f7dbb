// A job whose ranks are children of one process; its bootstrap callbacks meet in shared memory.
// Invariant: collectives are entered by all ranks; one that ended before leaves the others waiting.
// Owner: the process that calls fork_ranks(). Threads: it must have one.
#pragma once

#include <photon/photon.h>

#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <vector>

namespace photon::test {

inline constexpr std::uint32_t kMostForked = 8;

struct ForkedMeeting {
  pthread_barrier_t barrier;
  std::byte board[kMostForked * 4096];
};

struct ForkedSeat {
  ForkedMeeting* meeting;
  ph_rank rank;
  std::uint32_t ranks_count;
};

inline int forked_barrier(void* user) {
  pthread_barrier_wait(&static_cast<ForkedSeat*>(user)->meeting->barrier);
  return 0;
}

inline int forked_gather(void* user, const void* mine, void* all, std::size_t size_bytes) {
  const ForkedSeat& seat = *static_cast<ForkedSeat*>(user);
  if (size_bytes > 4096) return 1;
  std::memcpy(seat.meeting->board + seat.rank * size_bytes, mine, size_bytes);
  forked_barrier(user);
  std::memcpy(all, seat.meeting->board, seat.ranks_count * size_bytes);
  return forked_barrier(user);
}

// Each rank's wait status.
inline std::vector<int> fork_ranks(std::uint32_t ranks_count,
                                   const std::function<int(const ph_bootstrap&)>& rank_body) {
  void* const shared = ::mmap(nullptr, sizeof(ForkedMeeting), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw std::bad_alloc();
  auto* meeting = static_cast<ForkedMeeting*>(shared);
  pthread_barrierattr_t attributes;
  pthread_barrierattr_init(&attributes);
  pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&meeting->barrier, &attributes, ranks_count);
  std::vector<pid_t> children;
  for (ph_rank rank = 0; rank < ranks_count; ++rank) {
    children.push_back(::fork());
    if (children.back() != 0) continue;
    ForkedSeat seat{meeting, rank, ranks_count};
    std::exit(rank_body({&seat, rank, ranks_count, &forked_gather, &forked_barrier}));
  }
  std::vector<int> statuses;
  for (const pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    statuses.push_back(status);
  }
  return statuses;
}

}  // namespace photon::test
