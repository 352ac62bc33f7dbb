// A task runtime of libphoton's time, as it meets this library: ranks that it starts itself, an
// exchange of its own, a configuration from the stack of which only the fields it knows are set,
// sources without keys, retries on PHOTON_ERROR_RESOURCE, a thread for local and one for remote
// ids, and an exit without photon_finalize().
//
//   classic_runtime [ranks [namespace...]]   exits with 0 if every parcel came whole, once
//
// Rank r is in the network namespace number r of those named, counted round.
#include <fcntl.h>
#include <photon.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kMostRanks = 16;
constexpr std::uint64_t kParcels = 200;  // to each other rank
constexpr std::size_t kParcelBytes = 1000;

// Shared by the ranks.
struct Board {
  pthread_barrier_t barrier;
  unsigned char endpoint_infos[kMostRanks][65536];
};

Board* board;
int rank_here, ranks_count;

int meet(void*) {
  pthread_barrier_wait(&board->barrier);
  return 0;
}

int gather(void*, void* mine, void* all, int size_bytes) {
  const auto size = static_cast<std::size_t>(size_bytes);
  if (size > sizeof board->endpoint_infos[0]) return 1;
  std::memcpy(board->endpoint_infos[rank_here], mine, size);
  meet(nullptr);
  for (int rank = 0; rank < ranks_count; ++rank)
    std::memcpy(static_cast<unsigned char*>(all) + static_cast<std::size_t>(rank) * size,
                board->endpoint_infos[rank], size);
  return meet(nullptr);
}

void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "rank %d: %s\n", rank_here, what);
  _exit(1);
}

unsigned char byte_of(int from, std::uint64_t parcel, std::size_t i) {
  return static_cast<unsigned char>(static_cast<std::uint64_t>(from) * 41 + parcel * 7 + i);
}

struct Runtime {
  std::vector<unsigned char> landing;
  std::vector<photon_buffer_t> places;  // of all ranks
  std::atomic<std::uint64_t> locals{0};
  std::uint64_t wanted = 0;
};

photon_cid word(std::uint64_t value) {
  photon_cid id{};
  id.u64 = value;
  return id;
}

std::size_t offset_of(int from, std::uint64_t parcel) {
  return (static_cast<std::size_t>(from) * kParcels + parcel) * kParcelBytes;
}

void send_all(Runtime& runtime) {
  // Sources stay until their local ids were probed.
  std::vector<unsigned char> sources(kParcels * kParcelBytes);
  for (std::uint64_t parcel = 0; parcel < kParcels; ++parcel)
    for (std::size_t i = 0; i < kParcelBytes; ++i)
      sources[parcel * kParcelBytes + i] = byte_of(rank_here, parcel, i);
  for (std::uint64_t parcel = 0; parcel < kParcels; ++parcel) {
    for (int to = 0; to < ranks_count; ++to) {
      if (to == rank_here) continue;
      photon_buffer_t from = {
          reinterpret_cast<std::uintptr_t>(&sources[parcel * kParcelBytes]), kParcelBytes, {0, 0}};
      photon_buffer_t place = runtime.places[static_cast<std::size_t>(to)];
      place.addr += offset_of(rank_here, parcel);
      int status = PHOTON_ERROR_RESOURCE;
      while (status == PHOTON_ERROR_RESOURCE)
        status = photon_put_with_completion(to, kParcelBytes, &from, &place, word(parcel),
                                            word(parcel), 0);
      require(status == PHOTON_OK, "a put was refused");
    }
  }
  while (runtime.locals < runtime.wanted) std::this_thread::yield();
}

void probe_locals(Runtime& runtime) {
  while (runtime.locals < runtime.wanted) {
    int flag = 0;
    photon_cid id;
    require(photon_probe_completion(PHOTON_ANY_SOURCE, &flag, nullptr, &id, nullptr, nullptr,
                                    PHOTON_PROBE_EVQ) == PHOTON_OK,
            "a probe for local ids failed");
    if (flag == 0) std::this_thread::yield();
    if (flag != 0) ++runtime.locals;
  }
}

void probe_remotes(Runtime& runtime) {
  std::vector<std::uint64_t> next(static_cast<std::size_t>(ranks_count), 0);
  for (std::uint64_t taken = 0; taken < runtime.wanted;) {
    int flag = 0, source = -1;
    photon_cid id;
    require(photon_probe_completion(PHOTON_ANY_SOURCE, &flag, nullptr, &id, &source, nullptr,
                                    PHOTON_PROBE_LEDGER) == PHOTON_OK,
            "a probe for remote ids failed");
    if (flag == 0) {
      std::this_thread::yield();
      continue;
    }
    require(id.u64 == next[static_cast<std::size_t>(source)]++, "an id came out of order");
    for (std::size_t i = 0; i < kParcelBytes; ++i)
      require(runtime.landing[offset_of(source, id.u64) + i] == byte_of(source, id.u64, i),
              "a parcel is damaged");
    ++taken;
  }
}

void join_the_job() {
  photon_config_t config;
  std::memset(&config, 0xcd, sizeof config);  // the stack of a program that has run for a while
  config.address = rank_here;
  config.nproc = ranks_count;
  config.cap = {};
  config.cap.small_pwc_size = 1024;
  config.exch.barrier = meet;
  config.exch.allgather = gather;
  config.meta_exch = PHOTON_EXCH_EXTERNAL;
  config.backend = PHOTON_BACKEND_VERBS;
  config.coll = PHOTON_COLL_IFACE_DEFAULT;
  require(photon_init(&config) == PHOTON_OK, "photon_init");
}

[[noreturn]] void be_a_rank() {
  join_the_job();
  Runtime runtime;
  runtime.landing.resize(static_cast<std::size_t>(ranks_count) * kParcels * kParcelBytes);
  runtime.wanted = kParcels * static_cast<std::uint64_t>(ranks_count - 1);
  const photon_buffer_priv_t* keys = nullptr;
  require(photon_register_buffer(runtime.landing.data(), runtime.landing.size()) == PHOTON_OK,
          "registering");
  require(
      photon_get_buffer_private(runtime.landing.data(), runtime.landing.size(), &keys) == PHOTON_OK,
      "keys");
  photon_buffer_t mine = {.addr = reinterpret_cast<std::uintptr_t>(runtime.landing.data()),
                          .size = runtime.landing.size(),
                          .priv = *keys};
  runtime.places.resize(static_cast<std::size_t>(ranks_count));
  gather(nullptr, &mine, runtime.places.data(), sizeof mine);
  std::thread evq([&] { probe_locals(runtime); });
  std::thread ledger([&] { probe_remotes(runtime); });
  send_all(runtime);
  evq.join();
  ledger.join();
  meet(nullptr);
  std::exit(0);  // and no photon_finalize()
}

// As on hosts of their own.
void enter(const char* name) {
  const int handle = open((std::string("/run/netns/") + name).c_str(), O_RDONLY | O_CLOEXEC);
  require(handle >= 0 && setns(handle, CLONE_NEWNET) == 0, "entering a network namespace");
  close(handle);
}

}  // namespace

int main(int argc, char** argv) {
  ranks_count = argc > 1 ? std::atoi(argv[1]) : 8;
  if (ranks_count < 1 || ranks_count > kMostRanks) return 2;
  void* memory =
      mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 2;
  board = new (memory) Board;
  pthread_barrierattr_t shared;
  pthread_barrierattr_init(&shared);
  pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&board->barrier, &shared, static_cast<unsigned>(ranks_count));
  std::vector<pid_t> ranks;
  for (rank_here = 0; rank_here < ranks_count; ++rank_here) {
    const pid_t rank = fork();
    if (rank == 0 && argc > 2) enter(argv[2 + rank_here % (argc - 2)]);
    if (rank == 0) be_a_rank();
    ranks.push_back(rank);
  }
  int failures = 0;
  for (std::size_t left = ranks.size(); left > 0; --left) {
    int status = 0;
    wait(&status);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    // The others wait for one that is gone.
    if (failures++ == 0)
      for (const pid_t rank : ranks) kill(rank, SIGKILL);
  }
  return failures == 0 ? 0 : 1;
}
