// Ranks that a program starts itself, with an exchange of its own: nobody tells a rank how those
// fare to whom it never spoke. Rank 1 is killed and rank 2 leaves, both without a word, before or
// while rank 0 waits for them.
//
//   classic_silent MICROSECONDS [PROC]     from their start to their end; PROC (else each of them,
//                                          and any) is waited for
#include <photon.h>

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace {

constexpr int kRanks = 3, kKilled = 1, kLeaver = 2, kAny = PHOTON_ANY_SOURCE;

// Shared by the ranks.
struct Board {
  pthread_barrier_t barrier;
  unsigned char endpoint_infos[kRanks][65536];
};

Board* board;
int rank_here;

int meet(void*) {
  pthread_barrier_wait(&board->barrier);
  return 0;
}

int gather(void*, void* mine, void* all, int size_bytes) {
  const auto size = static_cast<std::size_t>(size_bytes);
  if (size > sizeof board->endpoint_infos[0]) return 1;
  std::memcpy(board->endpoint_infos[rank_here], mine, size);
  meet(nullptr);
  for (std::size_t rank = 0; rank < kRanks; ++rank)
    std::memcpy(static_cast<unsigned char*>(all) + rank * size, board->endpoint_infos[rank], size);
  return meet(nullptr);
}

void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "rank %d: %s\n", rank_here, what);
  _exit(1);
}

void wait_for(int proc) {
  const auto any_size = static_cast<std::uint64_t>(PHOTON_ANY_SIZE);
  photon_rid rid = 0;
  unsigned char bytes[8];
  require(photon_wait_recv_buffer_rdma(proc, any_size, 5, &rid) == PHOTON_ERROR, "a buffer came");
  require(photon_wait_send_buffer_rdma(proc, any_size, 5, &rid) == PHOTON_ERROR, "another came");
  if (proc != kAny) return;
  require(photon_wait_send_request_rdma(5) == -1, "a request came");
  require(photon_post_recv_buffer_rdma(proc, bytes, 8, 5, &rid) == PHOTON_ERROR, "it was sent");
}

// What the program measures is time, so this is no synchronisation: any value has to do.
void spend(long microseconds) {
  const timespec time{microseconds / 1'000'000, microseconds % 1'000'000 * 1000};
  nanosleep(&time, nullptr);
}

int be(int rank, long microseconds, const char* proc) {
  rank_here = rank;
  photon_config_t config;
  std::memset(&config, 0, sizeof config);
  config.address = rank;
  config.nproc = kRanks;
  config.meta_exch = PHOTON_EXCH_EXTERNAL;
  config.exch.allgather = gather;
  config.exch.barrier = meet;
  require(photon_init(&config) == PHOTON_OK, "photon_init");
  meet(nullptr);
  if (rank == 0) {
    for (int other : {kKilled, kLeaver, kAny})
      if (proc == nullptr || std::atoi(proc) == other) wait_for(other);
    std::printf("nobody is waited for\n");
    std::fflush(stdout);
  } else {
    spend(microseconds);
    if (rank == kKilled) kill(getpid(), SIGKILL);
  }
  photon_finalize();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  void* memory =
      mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 2;
  board = static_cast<Board*>(memory);
  pthread_barrierattr_t shared;
  pthread_barrierattr_init(&shared);
  pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&board->barrier, &shared, kRanks);
  pid_t waiting = 0;
  for (int rank = 0; rank < kRanks; ++rank) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(25);  // a wait that does not end is a failure
      _exit(be(rank, std::atol(argv[1]), argc > 2 ? argv[2] : nullptr));
    }
    if (rank == 0) waiting = child;
  }
  int status = 1;
  if (waitpid(waiting, &status, 0) != waiting) return 2;
  while (wait(nullptr) > 0) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
