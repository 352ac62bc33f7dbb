/* A stencil of nine points on a grid in two dimensions, whose ranks write into each other's halos
 * under fences (section V-E, figure 8).
 *
 *   stencil [--side N] [--tiny]
 *
 * The ranks are a square, and that of neighbours closes around its edges. Each has N x N points.
 * A step sends edges and corners to the eight neighbours within distance 1, has a fence, and
 * computes all points anew; halos of odd and of even steps lie apart, so one fence is enough.
 * Series: MPI_Put, MPI_Accumulate with MPI_REPLACE, and an active message that stores what it
 * brings. Each has a run of steps in its turn, from the same points on; values are microseconds of
 * a step, the median of up to kMostTurns turns within kLimitS. After each run rank 0 compares all
 * points with those of a stencil without MPI, to the last bit.
 */
#include <math.h>

#include "am.h"

enum { kSides = 8, kMostTurns = 15, kLimitS = 10 };

/* Towards each neighbour, and which of its own halos the neighbour has there. */
static const int kStep[kSides][2] = {{-1, 0},  {1, 0}, {0, -1}, {0, 1},
                                     {-1, -1}, {1, 1}, {-1, 1}, {1, -1}};
static int opposite(int side) { return side ^ 1; }

typedef struct Run {
  int rank, square, side, steps, turns, said;
  int neighbours[kSides];
  MPI_Win window;
  MPI_Op store;
  double* halos;      /* of even steps, then of odd ones */
  double *now, *next; /* (side + 2) squared: halos lie around */
  double* sent;       /* as halos; nobody rewrites what may be under way */
} Run;

static void store_doubles(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  memcpy(inout, in, (size_t)*count * sizeof(double));
}

static double first_value(long row, long column) {
  return (double)((row * 37 + column * 91) % 101);
}

static int points_of(const Run* run, int side) { return side < 4 ? run->side : 1; }

/* Where that halo begins in the memory of a step. */
static int start_of(const Run* run, int step, int side) {
  const int of_step = 4 * run->side + 4,
            before = side < 4 ? side * run->side : 4 * run->side + side - 4;
  return (step & 1) * of_step + before;
}

/* The i-th point at that side: of the rank's own, or of the halo around them. */
static double* point_at(const Run* run, int side, int i, int is_halo) {
  const int width = run->side + 2, last = run->side + is_halo, first = 1 - is_halo;
  int place[2];
  for (int axis = 0; axis < 2; ++axis) {
    const int step = kStep[side][axis];
    place[axis] = step < 0 ? first : step > 0 ? last : 1 + i;
  }
  return &run->now[place[0] * width + place[1]];
}

static void send_halo(const Run* run, int kind, int step, int side) {
  const int points = points_of(run, side), to = run->neighbours[side];
  const MPI_Aint at = start_of(run, step, opposite(side));
  double* const from = run->sent + start_of(run, step, side);
  for (int i = 0; i < points; ++i) from[i] = *point_at(run, side, i, 0);
  if (kind == kPut)
    MPI_Put(from, points, MPI_DOUBLE, to, at, points, MPI_DOUBLE, run->window);
  else
    MPI_Accumulate(from, points, MPI_DOUBLE, to, at, points, MPI_DOUBLE,
                   kind == kAm ? run->store : MPI_REPLACE, run->window);
}

static void take_halo(const Run* run, int step, int side) {
  const double* const from = run->halos + start_of(run, step, side);
  for (int i = 0; i < points_of(run, side); ++i) *point_at(run, side, i, 1) = from[i];
}

static void relax(const double* now, double* next, int side) {
  const int width = side + 2;
  for (int row = 1; row <= side; ++row)
    for (int column = 1; column <= side; ++column) {
      const double* const here = now + row * width + column;
      const double edges = here[-1] + here[1] + here[-width] + here[width];
      const double corners =
          here[-width - 1] + here[-width + 1] + here[width - 1] + here[width + 1];
      next[row * width + column] = 0.5 * here[0] + 0.1 * edges + 0.025 * corners;
    }
}

static void swap_points(Run* run) {
  double* const old = run->now;
  run->now = run->next;
  run->next = old;
}

static void fill(Run* run, long first_row, long first_column) {
  for (int row = 0; row < run->side; ++row)
    for (int column = 0; column < run->side; ++column)
      run->now[(row + 1) * (run->side + 2) + column + 1] =
          first_value(first_row + row, first_column + column);
}

static double step_us(Run* run, int kind) {
  fill(run, (long)(run->rank / run->square) * run->side,
       (long)(run->rank % run->square) * run->side);
  MPI_Win_fence(MPI_MODE_NOPRECEDE, run->window);
  const uint64_t start_ns = now_ns();
  for (int step = 0; step < run->steps; ++step) {
    for (int side = 0; side < kSides; ++side) send_halo(run, kind, step, side);
    MPI_Win_fence(step + 1 == run->steps ? MPI_MODE_NOSUCCEED : 0, run->window);
    for (int side = 0; side < kSides; ++side) take_halo(run, step, side);
    relax(run->now, run->next, run->side);
    swap_points(run);
  }
  double us = ns_between(start_ns, now_ns()) / 1000 / run->steps;
  MPI_Allreduce(MPI_IN_PLACE, &us, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return us;
}

static void make_points(Run* run) {
  const size_t bytes = ((size_t)run->side + 2) * ((size_t)run->side + 2) * sizeof(double);
  run->now = memory_of(bytes);
  run->next = memory_of(bytes);
  memset(run->now, 0, bytes);
}

static void release_points(Run* run) {
  free(run->now);
  free(run->next);
}

/* The whole grid without MPI: its halos are its own edges. */
static Run run_alone(const Run* run) {
  Run alone = {.side = run->side * run->square, .steps = run->steps};
  const int side = alone.side, width = side + 2;
  make_points(&alone);
  fill(&alone, 0, 0);
  for (int step = 0; step < alone.steps; ++step) {
    double* const now = alone.now;
    for (int i = 1; i <= side; ++i) {
      now[i] = now[side * width + i];
      now[(side + 1) * width + i] = now[width + i];
    }
    for (int row = 0; row < width; ++row) {
      now[row * width] = now[row * width + side];
      now[row * width + side + 1] = now[row * width + 1];
    }
    relax(alone.now, alone.next, side);
    swap_points(&alone);
  }
  return alone;
}

static void check_points(const Run* run, const Run* alone, int kind) {
  const int width = run->side + 2, ranks = run->square * run->square;
  double* const all = memory_of((size_t)(width * width) * (size_t)ranks * sizeof(double));
  MPI_Gather(run->now, width * width, MPI_DOUBLE, all, width * width, MPI_DOUBLE, 0,
             MPI_COMM_WORLD);
  for (int i = 0; run->rank == 0 && i < ranks * run->side * run->side; ++i) {
    const int side = run->side * run->square, row = i / side, column = i % side;
    const int rank = row / run->side * run->square + column / run->side;
    const int place = (row % run->side + 1) * width + column % run->side + 1;
    const double found = all[rank * width * width + place],
                 right = alone->now[(row + 1) * (side + 2) + column + 1];
    if (found != right)
      fail("%s: point %d, %d is %.17g and should be %.17g", name_of(kind), row, column, found,
           right);
  }
  free(all);
}

static void measure(Run* run) {
  double samples_us[kKinds][kMostTurns];
  char panel[32];
  Run alone = {0};
  if (run->rank == 0) alone = run_alone(run);
  const uint64_t begun_ns = now_ns();
  int turns = 0;
  do {
    for (int kind = 0; kind < kinds_here(); ++kind) {
      samples_us[kind][turns] = step_us(run, kind);
      check_points(run, &alone, kind);
    }
  } while (++turns < run->turns && has_time(begun_ns, kLimitS));
  if (run->rank == 0) release_points(&alone);
  snprintf(panel, sizeof panel, "%d x %d", run->side, run->side);
  for (int kind = 0; run->rank == 0 && kind < kinds_here(); ++kind)
    say_point(&run->said, (Point){panel, name_of(kind), run->square * run->square,
                                  median_of(samples_us[kind], (size_t)turns)});
}

static void read_options(int argc, char** argv, Run* run) {
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--tiny") == 0)
      run->turns = run->steps = 2;
    else if (strcmp(argv[i], "--side") == 0)
      run->side = (int)number_of(argv[++i], 2, 4096);
    else
      fail("stencil: there is no option %s", argv[i]);
    if (run->side < 0) fail("stencil: --side wants 2 to 4096");
  }
}

static void find_neighbours(Run* run) {
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &run->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  run->square = (int)lround(sqrt(ranks));
  if (run->square * run->square != ranks) fail("stencil: %d ranks are no square", ranks);
  for (int side = 0; side < kSides; ++side) {
    const int row = (run->rank / run->square + kStep[side][0] + run->square) % run->square,
              column = (run->rank % run->square + kStep[side][1] + run->square) % run->square;
    run->neighbours[side] = row * run->square + column;
  }
}

int main(int argc, char** argv) {
  Run run = {.side = 32, .steps = 50, .turns = kMostTurns};
  MPI_Init(&argc, &argv);
  read_options(argc, argv, &run);
  find_neighbours(&run);
  const MPI_Aint bytes = 2 * (4 * (MPI_Aint)run.side + 4) * (MPI_Aint)sizeof(double);
  MPI_Win_allocate(bytes, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &run.halos, &run.window);
  run.store = user_op(store_doubles, run.window);
  run.sent = memory_of((size_t)bytes);
  make_points(&run);
  const double before_ns = ping_ns();
  if (run.rank == 0) begin_points();
  measure(&run);
  const double after_ns = ping_ns();
  if (run.rank == 0) end_points(before_ns, after_ns);
  release_points(&run);
  free(run.sent);
  free_op(&run.store);
  MPI_Win_free(&run.window);
  return MPI_Finalize();
}
