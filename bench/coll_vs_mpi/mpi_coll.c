/* Collective operations of MPI in the loop of `photon-perf coll`, with the same buffers.
 *
 *   mpi_coll BLOCK KINDS SIZES fresh|same ITERATIONS
 *
 * BLOCK is a file of zeros that all ranks map: what is done between two operations needs no call of
 * MPI. For each kind and size rank 0 prints, for the non-blocking call with MPI_Wait and for the
 * blocking one: kind, bytes, call, p50 in ns of the best run, the two-line ping-pong of ranks 0 and
 * 1 in ns before and after. ITERATIONS 0: runs of 25 ms, the best of eight; else one run of so
 * many.
 *
 * fresh: inputs are rewritten and outputs were read by their owners before each operation, which
 * alone is timed. same: nobody touches a buffer meanwhile. A sample is the time from when the last
 * rank began until the last one had ended; what reading the clock costs is left out.
 */
#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { kMaxRanks = 64, kSpans = 100, kRuns = 8, kWantedSamples = 16, kPingTrips = 100 };
enum { kPageBytes = 4096 };
static const double kRunNs = 25e6;
static const uint64_t kMaxIterations = 50000000;

typedef struct Word {
  _Alignas(256) _Atomic uint64_t value;
} Word;

typedef struct Span {
  uint64_t start_ns, end_ns;
} Span;

typedef struct Block {
  Word arrived, generation, agreed, ping[2];
  _Alignas(256) Span spans[kMaxRanks][kSpans];
} Block;

typedef struct Kind {
  const char* name;
  int in_each, out_each; /* a block for each rank */
  enum { kRoot, kEach, kAll, kUpToSelf, kBeforeSelf } sources;
} Kind;

enum { kBarrier, kBcast, kReduce, kAllreduce, kScan, kExscan, kGather, kScatter, kAllgather };
enum { kAlltoall = kAllgather + 1, kReduceScatterBlock, kKinds };
static const Kind kTable[kKinds] = {{"barrier", 0, 0, kRoot},
                                    {"bcast", 0, 0, kRoot},
                                    {"reduce", 0, 0, kAll},
                                    {"allreduce", 0, 0, kAll},
                                    {"scan", 0, 0, kUpToSelf},
                                    {"exscan", 0, 0, kBeforeSelf},
                                    {"gather", 0, 1, kEach},
                                    {"scatter", 1, 0, kRoot},
                                    {"allgather", 0, 1, kEach},
                                    {"alltoall", 1, 1, kEach},
                                    {"reduce_scatter_block", 1, 0, kAll}};

typedef struct Run {
  Block* block;
  int rank, ranks, kind, count, is_fresh, is_blocking;
  double *in, *out;
  uint64_t stamp, trips;
} Run;

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int ascending(const void* left, const void* right) {
  const double a = *(const double*)left, b = *(const double*)right;
  return (a > b) - (a < b);
}

static double clock_cost_ns(void) {
  double costs_ns[1000], sum_ns = 0;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t start_ns = now_ns();
    costs_ns[i] = (double)(now_ns() - start_ns);
  }
  qsort(costs_ns, 1000, sizeof *costs_ns, ascending);
  for (int i = 0; i < 950; ++i) sum_ns += costs_ns[i];
  return sum_ns / 950;
}

/* The generation that this rank waits for; the last to arrive opens it. */
static uint64_t arrive(const Run* run) {
  Block* const block = run->block;
  const uint64_t wanted = atomic_load_explicit(&block->generation.value, memory_order_acquire) + 1;
  if (atomic_fetch_add(&block->arrived.value, 1) + 1 == (uint64_t)run->ranks) {
    atomic_store_explicit(&block->arrived.value, 0, memory_order_release);
    atomic_store_explicit(&block->generation.value, wanted, memory_order_release);
  }
  return wanted;
}

/* Where ranks share a processor, who spins keeps it from one that has not ended yet. */
static void meet(const Run* run) {
  const int patience = run->ranks == 2 ? 1000 : 0;
  Block* const block = run->block;
  const uint64_t wanted = arrive(run);
  for (int turn = 0; atomic_load_explicit(&block->generation.value, memory_order_acquire) != wanted;
       ++turn) {
    if (turn < patience)
      __builtin_ia32_pause();
    else
      sched_yield();
  }
}

static uint64_t agree(const Run* run, uint64_t mine) {
  if (run->rank == 0) atomic_store_explicit(&run->block->agreed.value, mine, memory_order_release);
  meet(run);
  const uint64_t value = atomic_load_explicit(&run->block->agreed.value, memory_order_acquire);
  meet(run);
  return value;
}

/* The same, asleep between looks: for ranks that must not disturb others meanwhile. */
static void meet_asleep(const Run* run) {
  static const struct timespec kNap = {0, 200000};
  Block* const block = run->block;
  const uint64_t wanted = arrive(run);
  while (atomic_load_explicit(&block->generation.value, memory_order_acquire) != wanted)
    nanosleep(&kNap, NULL);
}

static double ping_ns(Run* run) {
  double best_ns = 0;
  meet(run);
  for (int repetition = 0; run->rank < 2 && repetition < 10; ++repetition) {
    _Atomic uint64_t* const mine = &run->block->ping[run->rank].value;
    _Atomic uint64_t* const theirs = &run->block->ping[1 - run->rank].value;
    const uint64_t start_ns = now_ns();
    for (int i = 0; i < kPingTrips; ++i) {
      const uint64_t trip = ++run->trips;
      if (run->rank == 0) atomic_store_explicit(mine, trip, memory_order_release);
      for (long turn = 0; atomic_load_explicit(theirs, memory_order_acquire) != trip; ++turn)
        if (turn > 20000) sched_yield();
      if (run->rank == 1) atomic_store_explicit(mine, trip, memory_order_release);
    }
    const double way_ns = (double)(now_ns() - start_ns) / (2.0 * kPingTrips);
    if (best_ns == 0 || way_ns < best_ns) best_ns = way_ns;
  }
  meet_asleep(run);
  return best_ns;
}

static int in_blocks(const Run* run) {
  if (run->kind == kBarrier || ((run->kind == kBcast || run->kind == kScatter) && run->rank != 0))
    return 0;
  return kTable[run->kind].in_each ? run->ranks : 1;
}

static int out_blocks(const Run* run) {
  if (run->kind == kBarrier) return 0;
  if ((run->kind == kBcast || run->kind == kExscan) && run->rank == 0) return 0;
  if ((run->kind == kReduce || run->kind == kGather) && run->rank != 0) return 0;
  return kTable[run->kind].out_each ? run->ranks : 1;
}

/* Element i of a rank's block for a target counts up from here. */
static double first_of(uint64_t stamp, uint64_t source, uint64_t target) {
  return (double)(stamp * 31 + source * 17 + target * 5);
}

static void renew(Run* run) {
  ++run->stamp;
  for (int target = 0; target < in_blocks(run); ++target) {
    double* const to = run->in + (size_t)target * (size_t)run->count;
    const double first = first_of(run->stamp, (uint64_t)run->rank, (uint64_t)target);
    for (int i = 0; i < run->count; ++i) to[i] = first + i;
  }
}

static void check(const Run* run) {
  const Kind* const kind = &kTable[run->kind];
  const int target = kind->in_each ? run->rank : 0;
  for (int block = 0; block < out_blocks(run); ++block) {
    const double* const from = run->out + (size_t)block * (size_t)run->count;
    int begin = 0, end = run->ranks, wrong = 0;
    double first = 0;
    if (kind->sources == kRoot) end = 1;
    if (kind->sources == kEach) end = (begin = block) + 1;
    if (kind->sources == kUpToSelf) end = run->rank + 1;
    if (kind->sources == kBeforeSelf) end = run->rank;
    for (int s = begin; s < end; ++s) first += first_of(run->stamp, (uint64_t)s, (uint64_t)target);
    for (int i = 0; i < run->count; ++i) wrong |= from[i] != first + (double)(end - begin) * i;
    if (!wrong) continue;
    fprintf(stderr, "%s of %d doubles: a wrong result at rank %d\n", kind->name, run->count,
            run->rank);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

static void call_blocking(const Run* run) {
  const MPI_Comm all = MPI_COMM_WORLD;
  const MPI_Datatype type = MPI_DOUBLE;
  const int count = run->count;
  double *const in = run->in, *const out = run->out;
  switch (run->kind) {
    case kBarrier: MPI_Barrier(all); break;
    case kBcast: MPI_Bcast(run->rank == 0 ? in : out, count, type, 0, all); break;
    case kReduce: MPI_Reduce(in, out, count, type, MPI_SUM, 0, all); break;
    case kAllreduce: MPI_Allreduce(in, out, count, type, MPI_SUM, all); break;
    case kScan: MPI_Scan(in, out, count, type, MPI_SUM, all); break;
    case kExscan: MPI_Exscan(in, out, count, type, MPI_SUM, all); break;
    case kGather: MPI_Gather(in, count, type, out, count, type, 0, all); break;
    case kScatter: MPI_Scatter(in, count, type, out, count, type, 0, all); break;
    case kAllgather: MPI_Allgather(in, count, type, out, count, type, all); break;
    case kAlltoall: MPI_Alltoall(in, count, type, out, count, type, all); break;
    default: MPI_Reduce_scatter_block(in, out, count, type, MPI_SUM, all);
  }
}

static void call_and_wait(const Run* run) {
  const MPI_Comm all = MPI_COMM_WORLD;
  const MPI_Datatype type = MPI_DOUBLE;
  const int count = run->count;
  double *const in = run->in, *const out = run->out;
  MPI_Request r;
  switch (run->kind) {
    case kBarrier: MPI_Ibarrier(all, &r); break;
    case kBcast: MPI_Ibcast(run->rank == 0 ? in : out, count, type, 0, all, &r); break;
    case kReduce: MPI_Ireduce(in, out, count, type, MPI_SUM, 0, all, &r); break;
    case kAllreduce: MPI_Iallreduce(in, out, count, type, MPI_SUM, all, &r); break;
    case kScan: MPI_Iscan(in, out, count, type, MPI_SUM, all, &r); break;
    case kExscan: MPI_Iexscan(in, out, count, type, MPI_SUM, all, &r); break;
    case kGather: MPI_Igather(in, count, type, out, count, type, 0, all, &r); break;
    case kScatter: MPI_Iscatter(in, count, type, out, count, type, 0, all, &r); break;
    case kAllgather: MPI_Iallgather(in, count, type, out, count, type, all, &r); break;
    case kAlltoall: MPI_Ialltoall(in, count, type, out, count, type, all, &r); break;
    default: MPI_Ireduce_scatter_block(in, out, count, type, MPI_SUM, all, &r);
  }
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}

/* Brings the spans of all ranks together; rank 0 appends the samples. */
static size_t gather(const Run* run, const Span* mine, size_t filled, double left_out_ns,
                     double* to) {
  Block* const block = run->block;
  memcpy(block->spans[run->rank], mine, filled * sizeof *mine);
  meet(run);
  for (size_t i = 0; run->rank == 0 && i < filled; ++i) {
    Span last = {0, 0};
    for (int rank = 0; rank < run->ranks; ++rank) {
      const Span* const span = &block->spans[rank][i];
      if (span->start_ns > last.start_ns) last.start_ns = span->start_ns;
      if (span->end_ns > last.end_ns) last.end_ns = span->end_ns;
    }
    to[i] = (double)(last.end_ns - last.start_ns) - left_out_ns;
    if (to[i] < 1) to[i] = 1;
  }
  meet(run);
  return filled;
}

/* The p50 of one run in ns, at rank 0. */
static double measure(Run* run, uint64_t iterations) {
  uint64_t each = run->is_fresh ? 1 : iterations / kWantedSamples;
  if (each > 100) each = 100;
  if (each < 1) each = 1;
  const uint64_t samples = (iterations + each - 1) / each;
  double* const all_ns = malloc(samples * sizeof *all_ns);
  const double left_out_ns = clock_cost_ns();
  Span spans[kSpans];
  size_t filled = 0, done = 0;
  if (!run->is_fresh) renew(run);
  for (uint64_t sample = 0; sample < samples; ++sample) {
    if (run->is_fresh) renew(run);
    meet(run);
    spans[filled].start_ns = now_ns();
    for (uint64_t i = 0; i < each; ++i) {
      if (run->is_blocking)
        call_blocking(run);
      else
        call_and_wait(run);
    }
    spans[filled++].end_ns = now_ns();
    if (run->ranks > 2) meet(run);
    if (run->is_fresh) check(run);
    if (filled < kSpans && sample + 1 < samples) continue;
    done += gather(run, spans, filled, left_out_ns, all_ns + done);
    filled = 0;
  }
  if (!run->is_fresh) check(run);
  if (run->rank == 0) qsort(all_ns, samples, sizeof *all_ns, ascending);
  const double p50_ns = run->rank == 0 ? all_ns[(samples + 1) / 2 - 1] / (double)each : 0;
  free(all_ns);
  return p50_ns;
}

/* How many operations fill the time of a run; two runs that warm up. */
static uint64_t calibrate(Run* run) {
  uint64_t iterations = 10;
  for (int round = 0; round < 2; ++round) {
    const uint64_t start_ns = now_ns();
    measure(run, iterations);
    const double wanted = (double)iterations * kRunNs / (double)(now_ns() - start_ns + 1);
    iterations = wanted < kWantedSamples ? kWantedSamples : (uint64_t)wanted;
    if (iterations > kMaxIterations) iterations = kMaxIterations;
    iterations = agree(run, iterations);
  }
  return iterations;
}

static void ask(Run* run, uint64_t iterations) {
  for (run->is_blocking = 0; run->is_blocking < 2; ++run->is_blocking) {
    const double before_ns = ping_ns(run);
    const uint64_t chosen = iterations ? iterations : calibrate(run);
    double best_ns = 0;
    for (int i = 0; i < (iterations ? 1 : kRuns); ++i) {
      const double p50_ns = measure(run, chosen);
      if (best_ns == 0 || p50_ns < best_ns) best_ns = p50_ns;
    }
    const double after_ns = ping_ns(run);
    if (run->rank != 0) continue;
    printf("%s %zu %s %.1f %.1f %.1f\n", kTable[run->kind].name,
           (size_t)run->count * sizeof(double), run->is_blocking ? "blocking" : "nonblocking",
           best_ns, before_ns, after_ns);
    fflush(stdout);
  }
}

static double* memory(int each, const Run* run) {
  const size_t bytes = (size_t)run->count * sizeof(double) * (size_t)(each ? run->ranks : 1);
  const size_t rounded = (bytes / kPageBytes + 1) * kPageBytes;
  double* const data = aligned_alloc(kPageBytes, rounded);
  if (data == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  memset(data, 0, rounded);
  return data;
}

static void ask_kind(Run* run, const char* name, const char* sizes, uint64_t iterations) {
  for (run->kind = 0; run->kind < kKinds; ++run->kind)
    if (strcmp(kTable[run->kind].name, name) == 0) break;
  if (run->kind == kKinds) {
    if (run->rank == 0) fprintf(stderr, "there is no kind %s\n", name);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  for (const char* at = sizes; at != NULL; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
    run->count = run->kind == kBarrier ? 0 : atoi(at) / (int)sizeof(double);
    run->in = memory(kTable[run->kind].in_each, run);
    run->out = memory(kTable[run->kind].out_each, run);
    ask(run, iterations);
    free(run->in);
    free(run->out);
    if (run->kind == kBarrier) break;
  }
}

/* One processor for each rank, counted around, unless the launcher has chosen one. */
static void bind_rank(int rank) {
  cpu_set_t allowed, mine;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) return;
  int left = rank % CPU_COUNT(&allowed);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || left-- > 0) continue;
    CPU_ZERO(&mine);
    CPU_SET(cpu, &mine);
    sched_setaffinity(0, sizeof mine, &mine);
    return;
  }
}

int main(int argc, char** argv) {
  static Run run;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &run.ranks);
  const int file = argc == 6 ? open(argv[1], O_RDWR) : -1;
  if (file < 0 || run.ranks < 2 || run.ranks > kMaxRanks) {
    if (run.rank == 0) fprintf(stderr, "mpi_coll BLOCK KINDS SIZES fresh|same ITERATIONS\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  run.block = mmap(NULL, sizeof(Block), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (run.block == MAP_FAILED) MPI_Abort(MPI_COMM_WORLD, 2);
  bind_rank(run.rank);
  run.is_fresh = strcmp(argv[4], "fresh") == 0;
  const uint64_t iterations = strtoull(argv[5], NULL, 10);
  for (char* name = strtok(argv[2], ","); name != NULL; name = strtok(NULL, ","))
    ask_kind(&run, name, argv[3], iterations);
  return MPI_Finalize();
}
