/* Operations on a target that computes and calls nothing of MPI meanwhile (section V-C, figure 6).
 *
 *   overlap [--tiny]
 *
 * Two ranks. In each round rank 0 computes for kComputeMs, and rank 1 has an epoch with x
 * operations of 4 bytes on its window, which begins when the computation does. Panels:
 *
 *   passive  an exclusive lock; milliseconds of the epoch at its origin
 *   active   fences; milliseconds that the epoch of the target takes beyond the computation
 *
 * Where operations overlap a value has nothing of the computation in it. Rank 0 checks each word.
 */
#include "am.h"

enum { kComputeMs = 20, kMostRounds = 5, kMostCount = 1024 };

typedef struct Run {
  int rank, rounds, said;
  double compute_ns;
  int *words, from[kMostCount]; /* kKinds * kMostCount of the first */
  Operator with;
} Run;

static void operate_all(const Run* run, int kind, int count) {
  for (int i = 0; i < count; ++i)
    operate(&run->with, kind, &run->from[i], 1, kind * kMostCount + i);
}

static double passive_ms(const Run* run, int kind, int count) {
  MPI_Barrier(MPI_COMM_WORLD);
  double ms = 0;
  if (run->rank == 0) {
    MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    compute_for(run->compute_ns);
  } else {
    MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const uint64_t start_ns = now_ns();
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, run->with.window);
    operate_all(run, kind, count);
    MPI_Win_unlock(0, run->with.window);
    ms = ns_between(start_ns, now_ns()) / 1e6;
  }
  MPI_Bcast(&ms, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD);
  return ms;
}

static double active_ms(const Run* run, int kind, int count) {
  double ms = 0;
  MPI_Win_fence(MPI_MODE_NOPRECEDE, run->with.window);
  if (run->rank == 0) {
    const uint64_t computed_ns = compute_for(run->compute_ns);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, run->with.window);
    ms = ns_between(computed_ns, now_ns()) / 1e6;
  } else {
    operate_all(run, kind, count);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, run->with.window);
  }
  MPI_Bcast(&ms, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return ms;
}

/* The target writes what is operated on anew, or looks at it. */
static void see_words(const Run* run, int kind, int count, int rounds) {
  int* const words = run->words + kind * kMostCount;
  if (run->rank == 0) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, run->with.window);
    for (int i = 0; i < count; ++i) {
      const int right = kind == kPut ? run->from[i] : 3 * i + rounds * run->from[i];
      if (rounds == 0)
        words[i] = 3 * i;
      else if (words[i] != right)
        fail("%s: word %d is %d and should be %d", name_of(kind), i, words[i], right);
    }
    MPI_Win_unlock(0, run->with.window);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void measure(Run* run, int is_active, int kind, int count) {
  double samples_ms[kMostRounds];
  see_words(run, kind, count, 0);
  for (int round = 0; round < run->rounds; ++round)
    samples_ms[round] = is_active ? active_ms(run, kind, count) : passive_ms(run, kind, count);
  see_words(run, kind, count, run->rounds);
  const double ms = median_of(samples_ms, (size_t)run->rounds);
  if (run->rank == 0)
    say_point(&run->said, (Point){is_active ? "active" : "passive", name_of(kind), count, ms});
}

int main(int argc, char** argv) {
  Run run = {0};
  MPI_Init(&argc, &argv);
  const int is_tiny = only_tiny(argc, argv);
  run.rank = this_rank(2);
  run.rounds = is_tiny ? 1 : kMostRounds;
  run.compute_ns = 1e6 * (is_tiny ? 2 : kComputeMs);
  for (int i = 0; i < kMostCount; ++i) run.from[i] = i + 1;
  MPI_Win_allocate(kKinds * kMostCount * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &run.words, &run.with.window);
  run.with.add = user_op(add_ints, run.with.window);
  const double before_ns = ping_ns();
  if (run.rank == 0) begin_points();
  for (int is_active = 0; is_active < 2; ++is_active)
    for (int count = 1; count <= (is_tiny ? 4 : kMostCount); count *= 4)
      for (int kind = 0; kind < kinds_here(); ++kind) measure(&run, is_active, kind, count);
  const double after_ns = ping_ns();
  if (run.rank == 0) end_points(before_ns, after_ns);
  free_op(&run.with.add);
  MPI_Win_free(&run.with.window);
  return MPI_Finalize();
}
