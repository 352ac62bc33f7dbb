/* careless.c in a job that MPI has formed. */
#include <mpi.h>
#include <photon.h>

#include "careless.h"

int main(int argc, char** argv) {
  int status = 0;
  MPI_Init(&argc, &argv);
  status = careless(argc, argv, PHOTON_EXCH_MPI);
  MPI_Finalize();
  return status;
}
