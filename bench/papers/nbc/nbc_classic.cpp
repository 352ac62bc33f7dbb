// Allreduces of the classic API, as listings 1 and 2 of the paper on LibPhotonNBC make them: init,
// run, and probes until the id of the collective comes.
//
//   nbc_classic FILE nbc|pwc BYTES ITERATIONS [SLICES]
//
// The ranks of a photonrun map FILE, which is empty before: so they meet without the library. Each
// operation is one of 4-byte whole numbers, which are written anew before it and looked at after
// it. `nbc`: the library's own way; `pwc`: puts with 64-bit ids into rings of slots, with credit,
// as the paper has them. Rank 0 prints a line of JSON:
//
//   without SLICES   p50_ns: from when the last rank began until the last one had ended
//   with SLICES      alone_ns: p50 of the operation alone; visible_ns: p50 of what it adds to a
//                    computation of that length, which is cut into so many slices, with a probe
//                    after each; of the rank that hides the least
#include <fcntl.h>
#include <photon.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

namespace {

constexpr int kMostRanks = 64;
constexpr int kMostSamples = 1 << 16;
constexpr int kWarmUps = 10, kPatience = 1000;
constexpr std::uint32_t kPerStamp = 31, kPerRank = 17;

using Times = std::vector<double>;

struct Span {
  std::uint64_t start_ns, end_ns;
};

struct Board {
  alignas(256) std::atomic<int> arrived;
  alignas(256) std::atomic<std::uint64_t> generation;
  alignas(256) Span spans[kMostRanks][kMostSamples];
  double alone_ns[kMostRanks], visible_ns[kMostRanks];
};

struct Work {
  Board* board;
  int rank, ranks, iterations, slices;
  bool is_crowded;
  std::uint32_t stamp;
  std::vector<std::uint32_t> in, out;
};

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "nbc_classic: %s\n", what);
  std::_Exit(1);
}

void require(bool holds, const char* what) {
  if (!holds) fail(what);
}

std::uint64_t now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

double ns_since(std::uint64_t start_ns) { return static_cast<double>(now_ns() - start_ns); }

double median_of(Times times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>((times.size() - 1) / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

// The last to arrive opens the next generation.
void meet(Work& work) {
  Board& board = *work.board;
  const auto wanted = board.generation.load(std::memory_order_acquire) + 1;
  if (board.arrived.fetch_add(1) + 1 == work.ranks) {
    board.arrived.store(0, std::memory_order_relaxed);
    board.generation.store(wanted, std::memory_order_release);
  }
  for (int turn = 0; board.generation.load(std::memory_order_acquire) != wanted; ++turn)
    if (work.is_crowded || turn > kPatience) sched_yield();
}

void renew(Work& work) {
  ++work.stamp;
  std::uint32_t value = work.stamp * kPerStamp + static_cast<std::uint32_t>(work.rank) * kPerRank;
  for (auto& word : work.in) word = value++;
}

void check(const Work& work) {
  const auto ranks = static_cast<std::uint32_t>(work.ranks);
  std::uint32_t value = ranks * work.stamp * kPerStamp + kPerRank * (ranks * (ranks - 1) / 2);
  for (const auto word : work.out) {
    require(word == value, "a wrong sum");
    value += ranks;
  }
}

void begin(Work& work) {
  photon_cid id{};
  id.u64 = work.stamp;
  photon_rid request = 0;
  photon_coll_parameters parameters{};
  parameters.sendbuf = work.in.data();
  parameters.recvbuf = work.out.data();
  parameters.count = static_cast<int>(work.in.size());
  parameters.datatype = PHOTON_INT32;
  parameters.op = PHOTON_COLL_OP_SUM;
  require(photon_collective_init(PHOTON_COLL_IALLREDUCE, id, &request, 0) == PHOTON_OK, "no init");
  require(photon_collective_run(request, &parameters) == PHOTON_OK, "no run");
}

bool is_over(const Work& work) {
  int flag = 0;
  photon_cid id{};
  require(photon_probe_completion(PHOTON_ANY_SOURCE, &flag, nullptr, &id, nullptr, nullptr,
                                  PHOTON_PROBE_ANY) == PHOTON_OK,
          "a probe failed");
  if (flag == 0) return false;
  require(id.u64 == work.stamp, "an id that nobody gave");
  return true;
}

void wait(const Work& work) {
  while (!is_over(work))
    if (work.is_crowded) sched_yield();
}

void ready(Work& work) {
  renew(work);
  meet(work);
}

double compute(double span_ns) {
  const auto start_ns = now_ns();
  double sum = 1;
  while (ns_since(start_ns) < span_ns)
    for (int i = 0; i < 64; ++i) sum = sum * 0.999 + 0.001;
  require(sum < 2, "the computation is wrong");
  return ns_since(start_ns);
}

double alone_ns(Work& work) {
  ready(work);
  const auto start_ns = now_ns();
  begin(work);
  wait(work);
  const double span_ns = ns_since(start_ns);
  check(work);
  return span_ns;
}

double visible_ns(Work& work, double length_ns) {
  ready(work);
  const auto start_ns = now_ns();
  double computed_ns = 0;
  bool is_done = false;
  begin(work);
  for (int slice = 0; slice < work.slices; ++slice) {
    computed_ns += compute(length_ns / work.slices);
    is_done = is_done || is_over(work);
  }
  if (!is_done) wait(work);
  const double span_ns = ns_since(start_ns) - computed_ns;
  check(work);
  return span_ns;
}

void measure_overlap(Work& work) {
  Times alone, visible;
  for (int i = 0; i < work.iterations; ++i) alone.push_back(alone_ns(work));
  const double length_ns = work.board->alone_ns[work.rank] = median_of(alone);
  for (int i = 0; i < work.iterations; ++i) visible.push_back(visible_ns(work, length_ns));
  work.board->visible_ns[work.rank] = median_of(visible);
  meet(work);
  int worst = 0;
  const Board& board = *work.board;
  const auto share_of = [&](int rank) { return board.visible_ns[rank] / board.alone_ns[rank]; };
  for (int rank = 1; rank < work.ranks; ++rank)
    if (share_of(rank) > share_of(worst)) worst = rank;
  if (work.rank == 0)
    std::printf("{\"alone_ns\": %.1f, \"visible_ns\": %.1f}\n", board.alone_ns[worst],
                board.visible_ns[worst]);
}

void measure_latency(Work& work) {
  for (int i = 0; i < work.iterations; ++i) {
    ready(work);
    Span& span = work.board->spans[work.rank][i];
    span.start_ns = now_ns();
    begin(work);
    wait(work);
    span.end_ns = now_ns();
    meet(work);
    check(work);
  }
  Times times;
  for (int i = 0; work.rank == 0 && i < work.iterations; ++i) {
    Span last{0, 0};
    for (int rank = 0; rank < work.ranks; ++rank) {
      last.start_ns = std::max(last.start_ns, work.board->spans[rank][i].start_ns);
      last.end_ns = std::max(last.end_ns, work.board->spans[rank][i].end_ns);
    }
    times.push_back(static_cast<double>(last.end_ns - last.start_ns));
  }
  if (work.rank == 0) std::printf("{\"p50_ns\": %.1f}\n", median_of(times));
}

Board* map(const char* path) {
  const int file = open(path, O_RDWR | O_CLOEXEC);
  require(file >= 0 && ftruncate(file, sizeof(Board)) == 0, "the file cannot be opened");
  void* const memory = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  require(memory != MAP_FAILED, "the file cannot be mapped");
  close(file);
  return static_cast<Board*>(memory);
}

// A core for each rank, where there are enough: of this thread, not of the library's own.
bool bind_rank(int rank, int ranks) {
  cpu_set_t allowed, mine;
  require(sched_getaffinity(0, sizeof allowed, &allowed) == 0, "its cores are not known");
  if (ranks > CPU_COUNT(&allowed)) return false;
  int core = 0;
  for (int left = rank; !CPU_ISSET(core, &allowed) || left-- > 0; ++core) continue;
  CPU_ZERO(&mine);
  CPU_SET(core, &mine);
  return sched_setaffinity(0, sizeof mine, &mine) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  Work work{};
  const std::string way = argc > 4 ? argv[2] : "";
  const int bytes = argc > 4 ? std::atoi(argv[3]) : 0;
  work.iterations = argc > 4 ? std::atoi(argv[4]) : 0;
  work.slices = argc > 5 ? std::atoi(argv[5]) : 0;
  require((way == "nbc" || way == "pwc") && bytes >= 4 && bytes % 4 == 0 && work.iterations > 0 &&
              work.iterations <= kMostSamples && work.slices >= 0,
          "FILE nbc|pwc BYTES ITERATIONS [SLICES]");
  photon_config_t config{};
  config.meta_exch = PHOTON_EXCH_TCP;  // what photonrun gives
  config.coll = way == "pwc" ? PHOTON_COLL_IFACE_PWC : PHOTON_COLL_IFACE_NBC;
  require(photon_init(&config) == PHOTON_OK, "photon_init");
  work.rank = config.address;
  work.ranks = config.nproc;
  require(work.ranks >= 2 && work.ranks <= kMostRanks, "2 to 64 ranks");
  work.is_crowded = !bind_rank(work.rank, work.ranks);
  work.board = map(argv[1]);
  work.in.resize(static_cast<std::size_t>(bytes) / 4);
  work.out.resize(work.in.size());
  for (int i = 0; i < std::min(kWarmUps, work.iterations); ++i) alone_ns(work);
  if (work.slices > 0)
    measure_overlap(work);
  else
    measure_latency(work);
  meet(work);
  require(photon_finalize() == PHOTON_OK, "photon_finalize");
  return 0;
}
