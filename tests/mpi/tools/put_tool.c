/*
 * As counting_tool.c, of MPI_Put alone: what it passes on to PMPI goes past a library behind it
 * that has made the window.
 * Owner: the process. Threads: the program's one.
 */
#include <mpi.h>
#include <stdio.h>

static int put_calls;

int MPI_Put(const void* origin, int count, MPI_Datatype type, int rank, MPI_Aint at,
            int target_count, MPI_Datatype target_type, MPI_Win win) {
  ++put_calls;
  return PMPI_Put(origin, count, type, rank, at, target_count, target_type, win);
}

int MPI_Finalize(void) {
  printf("put_tool: %d puts\n", put_calls);
  fflush(stdout);
  return PMPI_Finalize();
}
