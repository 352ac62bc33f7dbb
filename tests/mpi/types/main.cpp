// Tests of datatypes, with an MPI of this rank alone.
#include <gtest/gtest.h>

#include "interop/mpi/real/real.hpp"

int main(int argc, char** argv) {
  int level = MPI_THREAD_SINGLE;
  if (MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level) != MPI_SUCCESS) return 1;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  testing::InitGoogleTest(&argc, argv);
  int failed = RUN_ALL_TESTS();
  if (level != MPI_THREAD_MULTIPLE) failed = 1;
  MPI_Finalize();
  return failed;
}
