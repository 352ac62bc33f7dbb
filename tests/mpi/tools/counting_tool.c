/*
 * A tool of the kind that MPI has PMPI for: it counts some calls and passes them on to PMPI, and
 * says at MPI_Finalize() what it has seen.
 * Owner: the process. Threads: the program's one.
 */
#include <mpi.h>
#include <stdio.h>

static int init_calls, create_calls, put_calls;

int MPI_Put(const void* origin, int count, MPI_Datatype type, int rank, MPI_Aint at,
            int target_count, MPI_Datatype target_type, MPI_Win win) {
  ++put_calls;
  return PMPI_Put(origin, count, type, rank, at, target_count, target_type, win);
}

int MPI_Finalize(void) {
  printf("tool: %d inits, %d creates, %d puts\n", init_calls, create_calls, put_calls);
  fflush(stdout);
  return PMPI_Finalize();
}

int MPI_Init(int* argc, char*** argv) {
  ++init_calls;
  return PMPI_Init(argc, argv);
}

int MPI_Win_create(void* base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm,
                   MPI_Win* win) {
  ++create_calls;
  return PMPI_Win_create(base, size, unit, info, comm, win);
}
