/* How much of a non-blocking allreduce of MPI is hidden behind a computation.
 *
 *   nbc_overlap BYTES ITERATIONS SLICES
 *
 * First the operation alone, Iallreduce and Wait; then Iallreduce, a computation of that length,
 * and Wait. With SLICES the computation is cut into so many parts, with a Test after each; with 0
 * no call is made meanwhile. Sums of doubles, which are written anew before each operation and
 * looked at after it. Rank 0 prints a line of JSON, of the rank that hides the least: alone_ns, the
 * p50 of the operation alone; visible_ns, the p50 of what it adds to the computation.
 */
#include "mpi_common.h"

enum { kWarmUps = 10, kMostIterations = 100000 };

typedef struct Run {
  int rank, ranks, count, iterations, slices;
  double *in, *out;
  long stamp;
} Run;

typedef struct Times {
  double alone_ns, visible_ns;
} Times;

static void ready(Run* run) {
  ++run->stamp;
  const double first = (double)(run->stamp * 31 + run->rank * 17);
  for (int i = 0; i < run->count; ++i) run->in[i] = first + i;
  MPI_Barrier(MPI_COMM_WORLD);
}

static void check(const Run* run) {
  double first = 0;
  for (int rank = 0; rank < run->ranks; ++rank) first += (double)(run->stamp * 31 + rank * 17);
  for (int i = 0; i < run->count; ++i)
    if (run->out[i] != first + (double)run->ranks * i) fail("a wrong sum at rank %d", run->rank);
}

static MPI_Request begin(const Run* run) {
  MPI_Request request;
  MPI_Iallreduce(run->in, run->out, run->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  return request;
}

static double alone_ns(Run* run) {
  ready(run);
  const uint64_t start_ns = now_ns();
  MPI_Request request = begin(run);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  const double span_ns = ns_between(start_ns, now_ns());
  check(run);
  return span_ns;
}

static double visible_ns(Run* run, double length_ns) {
  const int slices = run->slices ? run->slices : 1;
  ready(run);
  const uint64_t start_ns = now_ns();
  double computed_ns = 0;
  MPI_Request request = begin(run);
  for (int slice = 0; slice < slices; ++slice) {
    const uint64_t slice_ns = now_ns();
    int is_over = 0;
    computed_ns += ns_between(slice_ns, compute_for(length_ns / slices));
    if (run->slices) MPI_Test(&request, &is_over, MPI_STATUS_IGNORE);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  const double span_ns = ns_between(start_ns, now_ns()) - computed_ns;
  check(run);
  return span_ns;
}

static Times measure(Run* run) {
  double* const samples = memory_of((size_t)run->iterations * sizeof *samples);
  Times times;
  for (int i = 0; i < kWarmUps; ++i) alone_ns(run);
  for (int i = 0; i < run->iterations; ++i) samples[i] = alone_ns(run);
  times.alone_ns = median_of(samples, (size_t)run->iterations);
  for (int i = 0; i < run->iterations; ++i) samples[i] = visible_ns(run, times.alone_ns);
  times.visible_ns = median_of(samples, (size_t)run->iterations);
  free(samples);
  return times;
}

static void report(const Run* run, Times mine) {
  Times* const all = memory_of((size_t)run->ranks * sizeof *all);
  MPI_Gather(&mine, 2, MPI_DOUBLE, all, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  Times worst = mine;
  for (int rank = 1; run->rank == 0 && rank < run->ranks; ++rank)
    if (all[rank].visible_ns / all[rank].alone_ns > worst.visible_ns / worst.alone_ns)
      worst = all[rank];
  if (run->rank == 0)
    printf("{\"alone_ns\": %.1f, \"visible_ns\": %.1f}\n", worst.alone_ns, worst.visible_ns);
  free(all);
}

int main(int argc, char** argv) {
  Run run = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &run.ranks);
  const long bytes = number_of(argc == 4 ? argv[1] : NULL, sizeof(double), 1L << 30);
  run.iterations = (int)number_of(argc == 4 ? argv[2] : NULL, 1, kMostIterations);
  run.slices = (int)number_of(argc == 4 ? argv[3] : NULL, 0, 1000);
  if (bytes < 0 || run.iterations < 0 || run.slices < 0)
    fail("nbc_overlap BYTES ITERATIONS SLICES");
  run.count = (int)(bytes / (long)sizeof(double));
  run.in = memory_of((size_t)bytes);
  run.out = memory_of((size_t)bytes);
  report(&run, measure(&run));
  free(run.in);
  free(run.out);
  return MPI_Finalize();
}
