/* Figures 3 and 4 of the paper with one-sided calls of MPI-3, between two ranks.
 *
 *   mpirun -n 2 mpi_moves WHAT SIZES TIMES BYTES RUNS allocate|create|leave
 *
 *   put-latency, get-latency      MPI_Put or MPI_Get, then MPI_Win_flush
 *   put-bandwidth, get-bandwidth  all of them, then one MPI_Win_flush
 *
 * `allocate`: the window comes from MPI_Win_allocate, which ranks of a host may share. `create`: it
 * is of memory of the heap, so that a network is a network on one host as well. `leave`: the same,
 * but without MPI_Finalize, which MPICH over UCX's tcp does not always leave. Rank 0 holds it by
 * MPI_Win_lock_all. Rank 1 is in MPI_Barrier meanwhile, which makes progress. Bytes are verified
 * after each run. Places and amounts are those of pwc_moves.cpp, whose figures these stand beside.
 */
#include "mpi_common.h"

#include <unistd.h>

enum { kMostPlaces = 64, kLine = 64, kSpan = 4 << 20, kMostRuns = 100 };

typedef struct Moves {
  int rank, is_get, is_flood, is_created, size, stride, places;
  unsigned char *own, *exposed; /* exposed: the window of rank 1, and of rank 0 one as large */
  MPI_Win window;
} Moves;

static unsigned char pattern(long round, long offset) {
  return (unsigned char)((round * 31 + offset * 7 + (offset >> 8)) % 251);
}

static void prepare(Moves* moves, long round) {
  const int is_source = moves->is_get == (moves->rank == 1);
  unsigned char* const bytes = moves->rank == 1 ? moves->exposed : moves->own;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, moves->rank, 0, moves->window);
  for (long place = 0; place < moves->places; ++place)
    for (long i = 0; i < moves->size; ++i)
      bytes[place * moves->stride + i] = is_source ? pattern(round + place, i) : 0xff;
  MPI_Win_unlock(moves->rank, moves->window);
}

static void verify(Moves* moves, long round, long times) {
  const unsigned char* const bytes = moves->rank == 1 ? moves->exposed : moves->own;
  if (moves->is_get == (moves->rank == 1)) return;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, moves->rank, 0, moves->window);
  for (long place = 0; place < moves->places && place < times; ++place)
    for (long i = 0; i < moves->size; ++i)
      if (bytes[place * moves->stride + i] != pattern(round + place, i))
        fail("round %ld: byte %ld of %d is wrong", round, i, moves->size);
  MPI_Win_unlock(moves->rank, moves->window);
}

static void post(const Moves* moves, long i) {
  const MPI_Aint offset = i % moves->places * (MPI_Aint)moves->stride;
  unsigned char* const own = moves->own + offset;
  const int size = moves->size;
  if (moves->is_get)
    MPI_Get(own, size, MPI_BYTE, 1, offset, size, MPI_BYTE, moves->window);
  else
    MPI_Put(own, size, MPI_BYTE, 1, offset, size, MPI_BYTE, moves->window);
}

/* Microseconds of one operation, at rank 0. */
static double run(Moves* moves, long round, long times) {
  prepare(moves, round);
  MPI_Barrier(MPI_COMM_WORLD);
  double took_ns = 0;
  if (moves->rank == 0) {
    MPI_Win_lock_all(0, moves->window);
    const uint64_t begin_ns = now_ns();
    for (long i = 0; i < times; ++i) {
      post(moves, i);
      if (!moves->is_flood) MPI_Win_flush(1, moves->window);
    }
    if (moves->is_flood) MPI_Win_flush(1, moves->window);
    took_ns = ns_between(begin_ns, now_ns());
    MPI_Win_unlock_all(moves->window);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  verify(moves, round, times);
  return took_ns / 1000 / (double)times;
}

/* The median of the runs; *mean is their mean. */
static double measure(Moves* moves, long times, long runs, double* mean) {
  double found[kMostRuns];
  moves->stride = (moves->size + kLine - 1) / kLine * kLine;
  moves->places = kSpan / moves->stride;
  if (moves->places > kMostPlaces) moves->places = kMostPlaces;
  if (moves->places < 1) moves->places = 1;
  const MPI_Aint bytes = (MPI_Aint)moves->stride * moves->places;
  moves->own = memory_of((size_t)bytes);
  if (moves->is_created) {
    moves->exposed = memory_of((size_t)bytes);
    MPI_Win_create(moves->exposed, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &moves->window);
  } else {
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &moves->exposed, &moves->window);
  }
  run(moves, 0, times / 10 ? times / 10 : 1);
  *mean = 0;
  for (long i = 0; i < runs; ++i) {
    found[i] = run(moves, i + 1, times);
    *mean += found[i] / (double)runs;
  }
  MPI_Win_free(&moves->window);
  if (moves->is_created) free(moves->exposed);
  free(moves->own);
  return median_of(found, (size_t)runs);
}

static void measure_all(Moves* moves, char** arguments) {
  const long most = number_of(arguments[3], 1, 1000000000);
  const long bytes = number_of(arguments[4], 1, 1L << 40);
  const long runs = number_of(arguments[5], 1, kMostRuns);
  if (most < 0 || bytes < 0 || runs < 0) fail("TIMES, BYTES and RUNS are numbers");
  const char* before = "{\"rows\": [";
  for (char* word = strtok(arguments[2], ","); word; word = strtok(NULL, ",")) {
    const long size = number_of(word, 1, 1 << 30);
    if (size < 0) fail("'%s' is no size", word);
    long times = bytes / size > 20 ? bytes / size : 20;
    if (times > most) times = most;
    double mean = 0;
    moves->size = (int)size;
    const double median = measure(moves, times, runs, &mean);
    if (moves->rank != 0) continue;
    printf("%s{\"size\": %ld, \"us\": %.9g, \"mean_us\": %.9g}", before, size, median, mean);
    before = ", ";
  }
  if (moves->rank == 0) printf("]}\n");
}

int main(int count, char** arguments) {
  static const char* const kQuestions[] = {"put-latency", "get-latency", "put-bandwidth",
                                           "get-bandwidth", NULL};
  Moves moves = {0};
  static const char* const kWindows[] = {"allocate", "create", "leave", NULL};
  int ranks = 0;
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &moves.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int question = count == 7 ? place_in(kQuestions, arguments[1]) : -1;
  const int window = count == 7 ? place_in(kWindows, arguments[6]) : -1;
  if (question < 0 || window < 0 || ranks != 2)
    fail("two ranks, WHAT SIZES TIMES BYTES RUNS allocate|create|leave");
  moves.is_created = window > 0;
  moves.is_get = question % 2;
  moves.is_flood = question / 2;
  measure_all(&moves, arguments);
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  if (window == 2) _exit(0);
  return MPI_Finalize();
}
