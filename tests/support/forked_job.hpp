// A job whose ranks are children of one process; its bootstrap callbacks meet in shared memory.
// Invariant: collectives are entered by all ranks; once one has ended, all that are not over fail.
// Owner: the process that calls fork_ranks(), which hears of each end; it has no other children
// then. The ranks end with it: whoever ends a test that hangs ends its ranks. Threads: it must have
// one.
#pragma once

#include <photon/photon.h>

#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <new>
#include <vector>

namespace photon::test {

inline constexpr std::uint32_t kMostForked = 8;
inline constexpr std::uint32_t kRankHasEnded = 1u << 31;

struct ForkedMeeting {
  std::atomic<std::uint32_t> arrived;  // at the barrier of this round
  std::atomic<std::uint32_t> round;    // their number, and kRankHasEnded
  std::byte board[kMostForked * 4096];
};

struct ForkedSeat {
  ForkedMeeting* meeting;
  ph_rank rank;
  std::uint32_t ranks_count;
};

inline long futex_of(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  return ::syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
}

// Not 0: a rank has ended, so that not all can come any more.
inline int forked_barrier(void* user) {
  const ForkedSeat& seat = *static_cast<ForkedSeat*>(user);
  ForkedMeeting& meeting = *seat.meeting;
  const std::uint32_t ours = meeting.round.load();
  if ((ours & kRankHasEnded) != 0) return 1;
  if (meeting.arrived.fetch_add(1) + 1 == seat.ranks_count) {
    meeting.arrived.store(0);
    meeting.round.fetch_add(1);
    futex_of(meeting.round, FUTEX_WAKE, INT_MAX);
    return 0;
  }
  for (;;) {
    const std::uint32_t now = meeting.round.load();
    if ((now & ~kRankHasEnded) != ours) return 0;
    if ((now & kRankHasEnded) != 0) return 1;
    futex_of(meeting.round, FUTEX_WAIT, now);
  }
}

inline int forked_gather(void* user, const void* mine, void* all, std::size_t size_bytes) {
  const ForkedSeat& seat = *static_cast<ForkedSeat*>(user);
  if (size_bytes > 4096) return 1;
  std::memcpy(seat.meeting->board + seat.rank * size_bytes, mine, size_bytes);
  if (forked_barrier(user) != 0) return 1;
  std::memcpy(all, seat.meeting->board, seat.ranks_count * size_bytes);
  return forked_barrier(user);
}

// Each rank's wait status.
inline std::vector<int> fork_ranks(std::uint32_t ranks_count,
                                   const std::function<int(const ph_bootstrap&)>& rank_body) {
  void* const shared = ::mmap(nullptr, sizeof(ForkedMeeting), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw std::bad_alloc();
  auto* meeting = new (shared) ForkedMeeting{};
  const auto note_end = [meeting] {
    meeting->round.fetch_or(kRankHasEnded);
    futex_of(meeting->round, FUTEX_WAKE, INT_MAX);
  };
  std::map<pid_t, ph_rank> running;
  const pid_t parent = ::getpid();
  for (ph_rank rank = 0; rank < ranks_count; ++rank) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) std::_Exit(1);  // it was too late
      ForkedSeat seat{meeting, rank, ranks_count};
      std::exit(rank_body({&seat, rank, ranks_count, &forked_gather, &forked_barrier}));
    }
    if (child > 0)
      running[child] = rank;
    else
      note_end();
  }
  std::vector<int> statuses(ranks_count, -1);
  while (!running.empty()) {
    int status = -1;
    const pid_t child = ::waitpid(-1, &status, 0);
    if (child < 0 && errno == EINTR) continue;
    if (child < 0) {  // who ignores SIGCHLD is told of no end
      note_end();
      break;
    }
    const auto ended = running.find(child);
    if (ended == running.end()) continue;
    statuses[ended->second] = status;
    running.erase(ended);
    note_end();
  }
  ::munmap(shared, sizeof(ForkedMeeting));
  return statuses;
}

}  // namespace photon::test
