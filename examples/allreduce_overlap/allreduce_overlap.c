/*
 * Heat in a rod, and how much it changes in each step, which all ranks want to know: the sum over
 * all ranks runs while the next step is computed. photonrun -n 4 allreduce_overlap [cells] [steps]
 *
 * The sum is a prepared operation (coll.h) that is started in each step. There are two of them, for
 * even and odd steps, so that the sum of the step before may still be under way. Border cells
 * travel as puts with an id (as in heat2d).
 */
#include <math.h>
#include <photon/photon.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What peers write: the cells beside our band, for even and odd steps. */
typedef struct {
  double cell[2][2]; /* [step % 2][0: left of us, 1: right of us] */
} Halo;

typedef struct {
  ph_context* context;
  ph_team* team;
  ph_rank rank, ranks;
  Halo* halo;
  ph_region* halos; /* of all ranks */
  unsigned come[2]; /* how many border cells have come, of even and odd steps */
  size_t cells;     /* of our band */
  double* now;      /* with a cell in front and one behind */
  double* next;
  ph_coll* sums[2];
  ph_request requests[2];
  double part[2], change[2];
} Rod;

static void stop_at(ph_status status, Rod* rod, const char* what) {
  ph_error error;
  if (status == PH_OK) return;
  ph_last_error(rod->context, &error);
  fprintf(stderr, "allreduce_overlap: rank %u: %s: %s\n", rod->rank, what, error.text);
  exit(1);
}

/* How hot the rod is at first, anywhere in it. */
static double begin_at(size_t cell) { return cell % 97 == 13 ? 100.0 : 0.0; }

/* One step for cells 1 .. count; the result is how much they changed, squared and added up. */
static double step_band(const double* now, double* next, size_t count) {
  double change = 0;
  for (size_t i = 1; i <= count; ++i) {
    next[i] = now[i] + 0.25 * (now[i - 1] - 2 * now[i] + now[i + 1]);
    change += (next[i] - now[i]) * (next[i] - now[i]);
  }
  return change;
}

static void send_border(Rod* rod, ph_rank to, unsigned side, unsigned step, const double* cell) {
  const size_t offset = offsetof(Halo, cell) + (step % 2 * 2 + side) * sizeof(double);
  ph_status status;
  do {
    status = ph_put_u64(rod->context, to, (ph_const_block){cell, sizeof *cell},
                        ph_at(&rod->halos[to], offset), (ph_u64_ids){.remote = step % 2});
    if (status == PH_AGAIN) { /* take what is over, to make room */
      ph_completion over;
      size_t count = 0;
      stop_at(ph_probe(rod->context, (ph_query){PH_ANY_RANK, PH_LOCAL, NULL}, &over, 1, &count),
              rod, "probe");
    }
  } while (status == PH_AGAIN);
  stop_at(status, rod, "put");
}

/* Both neighbours get our border cells, and we wait for theirs. */
static void exchange(Rod* rod, unsigned step) {
  const unsigned wanted = (rod->rank > 0) + (rod->rank + 1 < rod->ranks);
  const ph_query arrivals = {PH_ANY_RANK, PH_EITHER, NULL};
  if (rod->rank > 0) send_border(rod, rod->rank - 1, 1, step, &rod->now[1]);
  if (rod->rank + 1 < rod->ranks) send_border(rod, rod->rank + 1, 0, step, &rod->now[rod->cells]);
  while (rod->come[step % 2] < wanted) {
    ph_completion news;
    size_t count = 0;
    stop_at(ph_probe(rod->context, arrivals, &news, 1, &count), rod, "probe");
    if (count == 0) stop_at(ph_wait(rod->context, arrivals, PH_FOREVER), rod, "wait");
    if (count != 0 && news.kind == PH_REMOTE) ++rod->come[news.id];
  }
  rod->come[step % 2] -= wanted;
  rod->now[0] = rod->rank > 0 ? rod->halo->cell[step % 2][0] : 0.0;
  rod->now[rod->cells + 1] = rod->rank + 1 < rod->ranks ? rod->halo->cell[step % 2][1] : 0.0;
}

static void prepare_sums(Rod* rod) {
  for (int i = 0; i < 2; ++i) {
    ph_coll_args args = {.size = sizeof args, .kind = PH_COLL_ALLREDUCE};
    args.in = &rod->part[i];
    args.out = &rod->change[i];
    args.count = 1;
    args.type = PH_DOUBLE;
    args.op = PH_OP_ADD;
    args.request = &rod->requests[i];
    stop_at(ph_coll_prepare(rod->team, &args, &rod->sums[i]), rod, "prepare");
  }
}

static void await_sum(Rod* rod, unsigned which) {
  stop_at(ph_wait_request(rod->context, &rod->requests[which], NULL, PH_FOREVER), rod, "sum");
}

static double run(Rod* rod, unsigned steps) {
  for (unsigned step = 0; step < steps; ++step) {
    exchange(rod, step);
    rod->part[step % 2] = step_band(rod->now, rod->next, rod->cells);
    stop_at(ph_coll_start(rod->sums[step % 2]), rod, "start");
    if (step > 0) await_sum(rod, (step - 1) % 2); /* it had all of this step's time */
    double* const old = rod->now;
    rod->now = rod->next;
    rod->next = old;
  }
  await_sum(rod, (steps - 1) % 2);
  return rod->change[(steps - 1) % 2];
}

/* What one rank alone finds. */
static double run_alone(size_t cells, unsigned steps) {
  double* now = calloc(cells + 2, sizeof *now);
  double* next = calloc(cells + 2, sizeof *next);
  double change = 0;
  if (now == NULL || next == NULL) exit(1);
  for (size_t i = 0; i < cells; ++i) now[i + 1] = begin_at(i);
  for (unsigned step = 0; step < steps; ++step) {
    change = step_band(now, next, cells);
    double* const old = now;
    now = next;
    next = old;
  }
  free(now);
  free(next);
  return change;
}

int main(int argc, char** argv) {
  const size_t cells = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
  const unsigned steps = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1000;
  Rod rod = {0};
  ph_error error;
  ph_region mine;
  if (ph_context_create(NULL, &rod.context, &error) != PH_OK) {
    fprintf(stderr, "allreduce_overlap: %s\n", error.text);
    return 1;
  }
  rod.rank = ph_rank_of(rod.context);
  rod.ranks = ph_size_of(rod.context);
  if (steps == 0 || cells < rod.ranks) {
    fprintf(stderr, "allreduce_overlap: a step and a cell for each rank are the least\n");
    return 2;
  }
  stop_at(ph_team_world(rod.context, &rod.team), &rod, "team");
  const size_t first = cells * rod.rank / rod.ranks;
  rod.cells = cells * (rod.rank + 1) / rod.ranks - first;
  rod.now = calloc(rod.cells + 2, sizeof *rod.now);
  rod.next = calloc(rod.cells + 2, sizeof *rod.next);
  rod.halos = calloc(rod.ranks, sizeof *rod.halos);
  if (rod.now == NULL || rod.next == NULL || rod.halos == NULL) return 1;
  for (size_t i = 0; i < rod.cells; ++i) rod.now[i + 1] = begin_at(first + i);
  stop_at(ph_alloc(rod.context, sizeof(Halo), &mine), &rod, "alloc");
  rod.halo = (Halo*)(uintptr_t)mine.address;
  stop_at(ph_allgather(rod.context, &mine, rod.halos, sizeof mine), &rod, "allgather");
  prepare_sums(&rod);

  const double found = run(&rod, steps);
  int is_right = 1;
  if (rod.rank == 0) {
    const double right = run_alone(cells, steps);
    is_right = fabs(found - right) <= 1e-9 * fabs(right);
    printf("allreduce_overlap: %u ranks, %zu cells, %u steps: the last one changed %.6g, %s\n",
           rod.ranks, cells, steps, found, is_right ? "right" : "WRONG");
  }
  /* The last sum needed all ranks, so all have begun it, and we may leave without a barrier. */
  for (int i = 0; i < 2; ++i) stop_at(ph_coll_free(rod.sums[i]), &rod, "free");
  stop_at(ph_finalize(rod.context), &rod, "finalize");
  ph_context_destroy(rod.context);
  free(rod.now);
  free(rod.next);
  free(rod.halos);
  return is_right ? 0 : 1;
}
