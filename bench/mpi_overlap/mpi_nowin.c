/* A program without windows: relaxation of a ring of points, with halos, and a residue now and
 * then.
 *
 *   mpi_nowin [--points N] [--steps N] [--tiny]
 *
 * Each rank has N points. In a step it exchanges one point with each neighbour, relaxes its own,
 * and each 100th step all ranks add up how much changed. Rank 0 prints one line of JSON: seconds of
 * the steps (of the rank that took longest), and the threads that the ranks had then, at most. The
 * points are compared with those of a relaxation without MPI, to the last bit.
 */
#include "mpi_common.h"

typedef struct Part {
  int rank, ranks, points, steps;
  double *now, *next; /* points + 2: the neighbours' lie at the ends */
} Part;

static double first_value(long place) { return (double)(place * 37 % 101); }

static double relax(const double* now, double* next, int points) {
  double change = 0;
  for (int i = 1; i <= points; ++i) {
    next[i] = 0.25 * now[i - 1] + 0.5 * now[i] + 0.25 * now[i + 1];
    change += next[i] > now[i] ? next[i] - now[i] : now[i] - next[i];
  }
  return change;
}

static void swap_points(Part* part) {
  double* const old = part->now;
  part->now = part->next;
  part->next = old;
}

static void exchange(const Part* part) {
  enum { kUp, kDown };
  const int up = (part->rank + 1) % part->ranks,
            down = (part->rank + part->ranks - 1) % part->ranks;
  const int last = part->points;
  const MPI_Comm all = MPI_COMM_WORLD;
  MPI_Request requests[4];
  MPI_Status statuses[4];
  MPI_Irecv(&part->now[0], 1, MPI_DOUBLE, down, kUp, all, &requests[0]);
  MPI_Irecv(&part->now[last + 1], 1, MPI_DOUBLE, up, kDown, all, &requests[1]);
  MPI_Isend(&part->now[last], 1, MPI_DOUBLE, up, kUp, all, &requests[2]);
  MPI_Isend(&part->now[1], 1, MPI_DOUBLE, down, kDown, all, &requests[3]);
  MPI_Waitall(4, requests, statuses);
}

/* The change that all ranks have seen last. */
static double run_steps(Part* part) {
  enum { kBetweenSums = 100 };
  double change = 0, sum = 0;
  for (int step = 0; step < part->steps; ++step) {
    exchange(part);
    change = relax(part->now, part->next, part->points);
    swap_points(part);
    if (step % kBetweenSums == 0)
      MPI_Allreduce(&change, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  return sum;
}

/* All of the ring at one rank. */
static void run_alone(Part* part) {
  for (int step = 0; step < part->steps; ++step) {
    part->now[0] = part->now[part->points];
    part->now[part->points + 1] = part->now[1];
    (void)relax(part->now, part->next, part->points);
    swap_points(part);
  }
}

static void make(Part* part, long first) {
  const size_t bytes = ((size_t)part->points + 2) * sizeof(double);
  part->now = memory_of(bytes);
  part->next = memory_of(bytes);
  for (int i = 0; i < part->points; ++i) part->now[i + 1] = first_value(first + i);
}

static void release(Part* part) {
  free(part->now);
  free(part->next);
}

static void check(const Part* part) {
  const size_t total = (size_t)part->points * (size_t)part->ranks;
  double* const all = memory_of(total * sizeof *all);
  MPI_Gather(part->now + 1, part->points, MPI_DOUBLE, all, part->points, MPI_DOUBLE, 0,
             MPI_COMM_WORLD);
  if (part->rank == 0) {
    Part alone = {.points = (int)total, .steps = part->steps};
    make(&alone, 0);
    run_alone(&alone);
    for (size_t i = 0; i < total; ++i)
      if (alone.now[i + 1] != all[i])
        fail("point %zu is %.17g and should be %.17g", i, all[i], alone.now[i + 1]);
    release(&alone);
  }
  free(all);
}

static int threads_now(void) {
  char line[256];
  int threads = 0;
  FILE* const status = fopen("/proc/self/status", "r");
  if (status == NULL) fail("/proc/self/status cannot be read");
  while (threads == 0 && fgets(line, sizeof line, status) != NULL)
    if (sscanf(line, "Threads: %d", &threads) != 1) threads = 0;
  fclose(status);
  if (threads == 0) fail("/proc/self/status tells of no threads");
  return threads;
}

static const char* read_options(int argc, char** argv, Part* part) {
  for (int i = 1; i < argc; ++i) {
    const char* const name = argv[i];
    if (strcmp(name, "--tiny") == 0) {
      part->steps = 500;
      continue;
    }
    const char* const value = argv[++i]; /* NULL behind the last one */
    if (strcmp(name, "--points") == 0)
      part->points = (int)number_of(value, 1, 1000000);
    else if (strcmp(name, "--steps") == 0)
      part->steps = (int)number_of(value, 1, 100000000);
    else
      return "there is no such option";
    if (part->points < 0) return "--points wants 1 to 1000000";
    if (part->steps < 0) return "--steps wants 1 to 100000000";
  }
  return NULL;
}

int main(int argc, char** argv) {
  Part part = {.points = 4000, .steps = 25000};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &part.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &part.ranks);
  const char* const mistake = read_options(argc, argv, &part);
  if (mistake != NULL) {
    if (part.rank == 0) fprintf(stderr, "mpi_nowin: %s\n", mistake);
    MPI_Finalize();
    return 2;
  }
  make(&part, (long)part.rank * part.points);
  MPI_Barrier(MPI_COMM_WORLD);
  const uint64_t start_ns = now_ns();
  const double change = run_steps(&part);
  double seconds = ns_between(start_ns, now_ns()) / 1e9;
  int threads = threads_now();
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &threads, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  check(&part);
  release(&part);
  if (part.rank == 0)
    printf("{\"seconds\": %.6f, \"threads\": %d, \"change\": %g}\n", seconds, threads, change);
  return MPI_Finalize();
}
