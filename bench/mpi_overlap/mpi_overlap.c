/* One-sided operations on a target that computes and calls nothing of MPI meanwhile.
 *
 *   mpi_overlap [--row NAME] [--memory allocate|create] [--type double|int64] [--compute-ms N]
 *               [--repeats N] [--operations N] [--tiny]
 *
 * Rank 0 is the target and prints one line of JSON. Rows, and the ranks they want:
 *
 *   accumulate (2)  lock for itself, accumulate of one element, unlock
 *   put (2)         lock for itself, put of 8 bytes, unlock
 *   fetch (2)       shared lock, fetch_and_op of one element, unlock
 *   lock_all (2)    lock_all once, put of 8 bytes and flush for each operation, unlock_all once
 *   sum (2)         1 MiB of doubles accumulated in a shared epoch beside local sums (rows.c)
 *   fence (2)       fences with nothing in them (rows.c)
 *   contend (2)     both ranks want one lock, no matter what the target does (rows.c)
 *   crowd (3 up)    all ranks but the target want its lock; the target computes (rows.c)
 *
 * In the first four the target computes for --compute-ms, and the origin operates for three fifths
 * of that time, or until it has done --operations. They overlap if the last of them was over before
 * the computation was. Where nothing moves the first operation lasts as long as the computation, so
 * a run is never much longer. Targets and origins write what is operated on anew for each repeat,
 * and the target looks at every element afterwards: contents that are wrong end the program.
 */
#include "rows.h"

static const char* const kRows[] = {"accumulate", "put",     "fetch", "lock_all", "sum",
                                    "fence",      "contend", "crowd", NULL};
static const char* const kMemories[] = {"allocate", "create", NULL};
static const char* const kTypes[] = {"double", "int64", NULL};
enum { kAccumulate, kPut, kFetch, kLockAll, kSum, kFence, kContend };

typedef struct Report {
  uint64_t count, start_ns, end_ns;
} Report;

static void operate(Run* run, uint64_t i) {
  const MPI_Win window = run->window;
  const Word value = word_of(run, i + 1);
  Word found;
  switch (run->row) {
    case kAccumulate:
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, kTarget, 0, window);
      MPI_Accumulate(&value, 1, run->type, kTarget, 0, 1, run->type, MPI_SUM, window);
      MPI_Win_unlock(kTarget, window);
      break;
    case kPut:
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, kTarget, 0, window);
      MPI_Put(&value, 1, run->type, kTarget, (MPI_Aint)(i % kWords), 1, run->type, window);
      MPI_Win_unlock(kTarget, window);
      break;
    case kFetch:
      MPI_Win_lock(MPI_LOCK_SHARED, kTarget, 0, window);
      MPI_Fetch_and_op(&value, &found, run->type, kTarget, 0, MPI_SUM, window);
      MPI_Win_unlock(kTarget, window);
      run->wrong += number_in(run, &found) != run->sum;
      run->sum += i + 1;
      break;
    default:
      MPI_Put(&value, 1, run->type, kTarget, (MPI_Aint)(i % kWords), 1, run->type, window);
      MPI_Win_flush(kTarget, window);
  }
}

/* As many as fit, the clock being looked at after 1, 2, 4, ... at most 256 of them. */
static Report operate_for(Run* run, double span_ns, uint64_t most) {
  enum { kMostBatch = 256 };
  Report report = {0, now_ns(), 0};
  uint64_t batch = 1;
  if (run->row == kLockAll) MPI_Win_lock_all(0, run->window);
  for (;;) {
    if (batch > most - report.count) batch = most - report.count;
    for (uint64_t i = 0; i < batch; ++i) operate(run, report.count++);
    const double passed_ns = ns_between(report.start_ns, now_ns());
    if (passed_ns >= span_ns || report.count == most) break;
    const double fits = (span_ns - passed_ns) * (double)report.count / passed_ns;
    batch = batch * 2 > kMostBatch ? kMostBatch : batch * 2;
    if (fits < (double)batch) batch = (uint64_t)fits + 1;
  }
  if (run->row == kLockAll) MPI_Win_unlock_all(run->window);
  report.end_ns = now_ns();
  return report;
}

/* What has to stand in a word of the target after `count` operations. */
static uint64_t wanted_in(const Run* run, uint64_t word, uint64_t count) {
  if (run->row == kAccumulate || run->row == kFetch)
    return first_in(run, word) + (word == 0 ? count * (count + 1) / 2 : 0);
  if (word >= count) return first_in(run, word);
  return (count - 1 - word) / kWords * kWords + word + 1;
}

static void check_words(Run* run, uint64_t count) {
  MPI_Win_lock(MPI_LOCK_SHARED, kTarget, 0, run->window);
  for (uint64_t word = 0; word < kWords; ++word) {
    const uint64_t wanted = wanted_in(run, word, count);
    const uint64_t found = number_in(run, &run->words[word]);
    if (found != wanted)
      fail("%s on memory of %s, %llu operations: word %llu is %llu and should be %llu",
           kRows[run->row], kMemories[run->memory], (unsigned long long)count,
           (unsigned long long)word, (unsigned long long)found, (unsigned long long)wanted);
  }
  MPI_Win_unlock(kTarget, run->window);
}

static void check_origin(const Run* run) {
  if (run->wrong != 0)
    fail("%llu of the elements that were fetched are wrong", (unsigned long long)run->wrong);
}

/* The send is the target's last call before it computes: when it has come, nothing of MPI runs at
 * the target unless a thread of MPI does. */
static Report one_repeat(Run* run, const Options* options, int* overlaps) {
  const int bytes = (int)sizeof(Report);
  const double compute_ns = 1e6 * (double)options->compute_ms;
  Report report = {0, 0, 0};
  renew(run);
  if (run->rank == kTarget) {
    MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    const uint64_t end_ns = compute_for(compute_ns);
    MPI_Recv(&report, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    *overlaps &= report.end_ns <= end_ns;
    check_words(run, report.count);
  } else {
    MPI_Recv(NULL, 0, MPI_BYTE, kTarget, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    report = operate_for(run, 0.6 * compute_ns, (uint64_t)options->operations);
    check_origin(run);
    MPI_Send(&report, bytes, MPI_BYTE, kTarget, 0, MPI_COMM_WORLD);
  }
  return report;
}

static void measure_overlap(Run* run, const Options* options) {
  uint64_t operations = 0;
  double best_us = 0;
  int overlaps = 1;
  renew(run);
  if (run->rank != kTarget) (void)operate_for(run, 1e9, 8); /* the ranks get to know each other */
  MPI_Barrier(MPI_COMM_WORLD);
  for (int repeat = 0; repeat < options->repeats; ++repeat) {
    const Report report = one_repeat(run, options, &overlaps);
    const double us = ns_between(report.start_ns, report.end_ns) / 1000 / (double)report.count;
    if (repeat == 0 || us < best_us) best_us = us;
    operations += report.count;
  }
  run_says(run, "\"us\": %.4f, \"operations\": %llu, \"overlaps\": %s", best_us,
           (unsigned long long)operations, overlaps ? "true" : "false");
}

static const char* read_options(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; ++i) {
    const char* const name = argv[i];
    if (strcmp(name, "--tiny") == 0) {
      options->is_tiny = options->repeats = 1;
      options->compute_ms = 30;
      continue;
    }
    const char* const value = argv[++i]; /* NULL behind the last one */
    if (strcmp(name, "--row") == 0)
      options->row = place_in(kRows, value);
    else if (strcmp(name, "--memory") == 0)
      options->memory = place_in(kMemories, value);
    else if (strcmp(name, "--type") == 0)
      options->type = place_in(kTypes, value);
    else if (strcmp(name, "--compute-ms") == 0)
      options->compute_ms = (int)number_of(value, 1, 10000);
    else if (strcmp(name, "--repeats") == 0)
      options->repeats = (int)number_of(value, 1, 100);
    else if (strcmp(name, "--operations") == 0)
      options->operations = number_of(value, 1, 1000000000);
    else
      return "there is no such option";
    if (options->row < 0)
      return "--row wants accumulate, put, fetch, lock_all, sum, fence, "
             "contend or crowd";
    if (options->memory < 0) return "--memory wants allocate or create";
    if (options->type < 0) return "--type wants double or int64";
    if (options->compute_ms < 0) return "--compute-ms wants 1 to 10000";
    if (options->repeats < 0) return "--repeats wants 1 to 100";
    if (options->operations < 0) return "--operations wants 1 to 1000000000";
  }
  return NULL;
}

static const char* wrong_ranks(const Run* run) {
  if (run->row > kContend) return run->ranks < 3 ? "this row wants at least 3 ranks" : NULL;
  return run->ranks != 2 ? "this row wants 2 ranks" : NULL;
}

static void measure(Run* run, const Options* options) {
  switch (run->row) {
    case kSum: measure_sum(run, options); break;
    case kFence: measure_fence(run, options); break;
    case kAccumulate:
    case kPut:
    case kFetch:
    case kLockAll: measure_overlap(run, options); break;
    case kContend: measure_contend(run, options); break;
    default: measure_crowd(run, options);
  }
}

int main(int argc, char** argv) {
  Options options = {.row = kAccumulate, .compute_ms = 200, .repeats = 3, .operations = 100000000};
  Run run = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &run.ranks);
  const char* mistake = read_options(argc, argv, &options);
  run.row = options.row;
  run.row_name = run.row < 0 ? "" : kRows[run.row];
  run.memory = options.memory;
  run.is_real = options.type == 0;
  run.type = run.is_real ? MPI_DOUBLE : MPI_INT64_T;
  if (mistake == NULL) mistake = wrong_ranks(&run);
  if (mistake != NULL) {
    if (run.rank == 0) fprintf(stderr, "mpi_overlap: %s\n", mistake);
    MPI_Finalize();
    return 2;
  }
  const double before_ns = ping_ns();
  open_window(&run);
  measure(&run, &options);
  close_window(&run);
  const double after_ns = ping_ns();
  if (run.rank == 0)
    printf("{\"row\": \"%s\", \"memory\": \"%s\", %s, \"ping_ns\": [%.1f, %.1f]}\n", run.row_name,
           kMemories[run.memory], run.said, before_ns, after_ns);
  return MPI_Finalize();
}
