/* Put, accumulate and active message, over size and over count (section V-A and V-B, figures 3 to
 * 5).
 *
 *   latency [--sync fence|exclusive|shared] [--tiny]
 *
 * Two ranks. Rank 1 has an epoch with operations on the window of rank 0, which waits in MPI
 * meanwhile, so that each MPI gets on. Panels: "size", one operation of x bytes; "count", x
 * operations of 4 bytes each, on words of their own. Values are microseconds of the epoch at its
 * origin, the median; in each repeat all operations have their turn. Rank 0 checks every word.
 */
#include "am.h"

enum { kMostInts = 1 << 18, kMostRepeats = 51, kFence = 0 };

typedef struct Run {
  int rank, sync, is_tiny, said;
  int *words, *from; /* kKinds * kMostInts; kMostInts */
  Operator with;
} Run;

typedef struct Cell {
  const char* panel;
  long x;
  int count, elements; /* operations; of each */
} Cell;

static void begin_epoch(const Run* run) {
  if (run->sync == kFence)
    MPI_Win_fence(MPI_MODE_NOPRECEDE, run->with.window);
  else
    MPI_Barrier(MPI_COMM_WORLD);
}

static void lock_target(const Run* run) {
  static const int kLocks[] = {0, MPI_LOCK_EXCLUSIVE, MPI_LOCK_SHARED};
  if (run->sync != kFence) MPI_Win_lock(kLocks[run->sync], 0, 0, run->with.window);
}

static void end_epoch(const Run* run) {
  if (run->sync == kFence)
    MPI_Win_fence(MPI_MODE_NOSUCCEED, run->with.window);
  else if (run->rank == 1)
    MPI_Win_unlock(0, run->with.window);
}

/* All ranks; what it gives is of rank 1. */
static double epoch_us(const Run* run, const Cell* cell, int kind) {
  begin_epoch(run);
  const uint64_t start_ns = now_ns();
  if (run->rank == 1) {
    lock_target(run);
    for (int i = 0; i < cell->count; ++i) {
      const int first = i * cell->elements;
      operate(&run->with, kind, run->from + first, cell->elements, kind * kMostInts + first);
    }
  }
  end_epoch(run);
  const double us = ns_between(start_ns, now_ns()) / 1000;
  if (run->sync != kFence) MPI_Barrier(MPI_COMM_WORLD);
  return us;
}

/* Where `repeats` is 0 it writes first words, else it looks at what has become of them. */
static void see_words(const Run* run, const Cell* cell, int kind, int repeats) {
  int* const words = run->words + kind * kMostInts;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, run->with.window);
  for (int i = 0; i < cell->count * cell->elements; ++i) {
    const int right = kind == kPut ? run->from[i] : 3 * i + repeats * run->from[i];
    if (repeats == 0)
      words[i] = 3 * i;
    else if (words[i] != right)
      fail("%s, %s %ld: word %d is %d and should be %d", name_of(kind), cell->panel, cell->x, i,
           words[i], right);
  }
  MPI_Win_unlock(0, run->with.window);
}

static void see_all_words(const Run* run, const Cell* cell, int repeats) {
  for (int kind = 0; run->rank == 0 && kind < kinds_here(); ++kind)
    see_words(run, cell, kind, repeats);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void measure(Run* run, Cell cell) {
  const int repeats = run->is_tiny ? 3 : cell.count * cell.elements > 4096 ? 15 : kMostRepeats;
  double samples_us[kKinds][kMostRepeats], medians_us[kKinds] = {0};
  see_all_words(run, &cell, 0);
  for (int i = 0; i < repeats; ++i)
    for (int kind = 0; kind < kinds_here(); ++kind)
      samples_us[kind][i] = epoch_us(run, &cell, kind);
  see_all_words(run, &cell, repeats);
  for (int kind = 0; kind < kinds_here(); ++kind)
    medians_us[kind] = median_of(samples_us[kind], (size_t)repeats);
  MPI_Bcast(medians_us, kKinds, MPI_DOUBLE, 1, MPI_COMM_WORLD);
  for (int kind = 0; run->rank == 0 && kind < kinds_here(); ++kind)
    say_point(&run->said, (Point){cell.panel, name_of(kind), cell.x, medians_us[kind]});
}

static void read_options(int argc, char** argv, Run* run) {
  static const char* const kSyncs[] = {"fence", "exclusive", "shared", NULL};
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--tiny") == 0)
      run->is_tiny = 1;
    else if (strcmp(argv[i], "--sync") == 0)
      run->sync = place_in(kSyncs, argv[++i]);
    else
      fail("latency: there is no option %s", argv[i]);
    if (run->sync < 0) fail("latency: --sync wants fence, exclusive or shared");
  }
}

int main(int argc, char** argv) {
  Run run = {0};
  MPI_Init(&argc, &argv);
  read_options(argc, argv, &run);
  run.rank = this_rank(2);
  run.from = memory_of(kMostInts * sizeof(int));
  for (int i = 0; i < kMostInts; ++i) run.from[i] = i + 1;
  MPI_Win_allocate(kKinds * kMostInts * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &run.words, &run.with.window);
  run.with.add = user_op(add_ints, run.with.window);
  const int most_bytes = run.is_tiny ? 4096 : 1 << 20, most_count = run.is_tiny ? 16 : 4096;
  const double before_ns = ping_ns();
  if (run.rank == 0) begin_points();
  for (int bytes = 4; bytes <= most_bytes; bytes *= 4)
    measure(&run, (Cell){"size", bytes, 1, bytes / (int)sizeof(int)});
  for (int count = 1; count <= most_count; count *= 4)
    measure(&run, (Cell){"count", count, count, 1});
  const double after_ns = ping_ns();
  if (run.rank == 0) end_points(before_ns, after_ns);
  free_op(&run.with.add);
  MPI_Win_free(&run.with.window);
  free(run.from);
  return MPI_Finalize();
}
