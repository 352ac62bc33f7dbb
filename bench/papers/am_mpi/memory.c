/* How much memory a large active message takes at its target for a while.
 *
 *   memory [--tiny]
 *
 * Two ranks, whose windows can be reached by messages alone: as if they were on two hosts, where
 * the environment says PHOTON_SHM_CMA=off and the memory is of malloc. Rank 1 puts kBytes into the
 * window of rank 0, so that what carries messages is there, and then accumulates as much with an
 * operation of the program. The value is how far the live bytes of the heap of rank 0 rose in that
 * epoch over what was live before it, in KiB (heap.h). Each word is checked.
 */
#include "am.h"
#include "heap.h"

static void operate_once(const Operator* with, int kind, const int* from, int count) {
  MPI_Win_fence(MPI_MODE_NOPRECEDE, with->window);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) operate(with, kind, from, count, 0);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, with->window);
}

int main(int argc, char** argv) {
  Operator with = {0};
  int said = 0;
  MPI_Init(&argc, &argv);
  const int count = (only_tiny(argc, argv) ? 1 << 20 : 64 << 20) / (int)sizeof(int);
  const int rank = this_rank(2);
  if (MPIX_Op_register == NULL) fail("memory: this MPI has no operations of the program");
  int *const words = memory_of((size_t)count * sizeof(int)), *const from = memory_of((size_t)count *
                                                                                     sizeof(int));
  for (int i = 0; i < count; ++i) words[i] = from[i] = i;
  MPI_Win_create(words, count * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                 &with.window);
  with.add = user_op(add_ints, with.window);
  operate_once(&with, kPut, from, count);
  operate_once(&with, kAm, from, 1);
  heap_forget_peak();
  const long before_bytes = heap_bytes();
  operate_once(&with, kAm, from, count);
  const long more_bytes = heap_peak_bytes() - before_bytes;
  for (int i = 1; rank == 0 && i < count; ++i)
    if (words[i] != 2 * i) fail("word %d is %d and should be %d", i, words[i], 2 * i);
  if (rank == 0) {
    begin_points();
    say_point(&said, (Point){"peak", "am", count * (long)sizeof(int), (double)more_bytes / 1024});
    end_points(0, 0);
  }
  free_op(&with.add);
  MPI_Win_free(&with.window);
  free(words);
  free(from);
  return MPI_Finalize();
}
