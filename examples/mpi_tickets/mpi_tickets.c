/*
 * Ranks of MPI draw tickets from a counter of rank 0, which computes meanwhile and calls nothing:
 *
 *   mpiexec -n 4 ./mpi_tickets
 *
 * It is linked with Photon and not started behind it (docs/mpi-windows.md). The calls are MPI's
 * with another first syllable: with MPI_ in all places of MPIX_ each draw would wait for rank 0.
 */
#include <photon/photon_mpi.h>
#include <stdio.h>

enum { kTickets = 1000, kSteps = 100 * 1000 * 1000 };

static double compute(void) {
  double sum = 0;
  for (int i = 1; i <= kSteps; ++i) sum += 1.0 / i;
  return sum;
}

/* How long the slowest draw took, in seconds; *last is the highest ticket of this rank. */
static double draw(MPI_Win win, long long* last) {
  const long long one = 1;
  double slowest = 0;
  MPIX_Win_lock_all(0, win);
  for (int i = 0; i < kTickets; ++i) {
    const double begin = MPI_Wtime();
    MPIX_Fetch_and_op(&one, last, MPI_LONG_LONG, 0, 0, MPI_SUM, win);
    MPIX_Win_flush(0, win);
    const double taken = MPI_Wtime() - begin;
    if (taken > slowest) slowest = taken;
  }
  MPIX_Win_unlock_all(win);
  return slowest;
}

int main(int argc, char** argv) {
  int rank = 0;
  int ranks = 0;
  long long* counter = NULL;
  long long last = 0;
  double slowest = 0;
  MPI_Win win;

  MPI_Init(&argc, &argv);
  if (MPIX_Init() != MPI_SUCCESS) fprintf(stderr, "mpi_tickets: the windows are MPI's own\n");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  MPIX_Win_allocate(rank == 0 ? 8 : 0, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &counter, &win);
  if (rank == 0) {
    MPIX_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    *counter = 0;
    MPIX_Win_unlock(0, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    printf("rank 0 has computed: %.3f\n", compute());
  else
    slowest = draw(win, &last);

  double slowest_of_all = 0;
  long long highest = 0;
  MPI_Reduce(&slowest, &slowest_of_all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(&last, &highest, 1, MPI_LONG_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("mpi_tickets: %d ranks drew %lld tickets, the slowest draw took %.3f ms\n", ranks - 1,
           ranks > 1 ? highest + 1 : 0, slowest_of_all * 1e3);
  const int is_right = rank != 0 || ranks == 1 || highest + 1 == (long long)(ranks - 1) * kTickets;
  MPIX_Win_free(&win);
  MPI_Finalize();
  return is_right ? 0 : 1;
}
