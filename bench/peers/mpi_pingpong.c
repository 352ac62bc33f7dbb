/* Half round trip of MPI_Send/MPI_Recv between two ranks: median over batches of 200, in ns. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kBatches = 200, kRounds = 200 };

static int ascending(const void* left, const void* right) {
  const double a = *(const double*)left, b = *(const double*)right;
  return (a > b) - (a < b);
}

static void round_trip(int rank, char* buffer, int size_bytes) {
  if (rank == 0) MPI_Send(buffer, size_bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
  MPI_Recv(buffer, size_bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 1) MPI_Send(buffer, size_bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  static double batches_ns[kBatches];
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int size_bytes = argc > 1 ? atoi(argv[1]) : 8;
  char* buffer = calloc((size_t)size_bytes + 1, 1);
  for (int batch = 0; batch < kBatches; ++batch) {
    const double start_s = MPI_Wtime();
    for (int i = 0; i < kRounds; ++i) round_trip(rank, buffer, size_bytes);
    batches_ns[batch] = (MPI_Wtime() - start_s) * 1e9 / (2.0 * kRounds);
  }
  qsort(batches_ns, kBatches, sizeof *batches_ns, ascending);
  if (rank == 0) printf("%.1f\n", batches_ns[kBatches / 2]);
  free(buffer);
  return MPI_Finalize();
}
