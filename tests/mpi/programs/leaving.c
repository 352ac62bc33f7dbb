/*
 * How a program ends: by MPI_Finalize under either name, or without it.
 *
 *   leaving ours|plain CASE|no_window
 */
#include "check.h"

static MPI_Win win;
static long long* memory;

static void make_window(void) {
  const long long value = 40 + my_rank;
  MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Win_fence(0, win);
  MPI_Put(&value, 1, MPI_LONG_LONG, (my_rank + 1) % ranks, 2, 1, MPI_LONG_LONG, win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
}
static void check_window(void) {
  const long long one = 1;
  MPI_Win_fence(0, win);
  MPI_Accumulate(&one, 1, MPI_LONG_LONG, (my_rank + 1) % ranks, 2, 1, MPI_LONG_LONG, MPI_SUM, win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  check_equal("put and added", 41 + (my_rank + ranks - 1) % ranks, memory[2]);
}

/* As libraries do that end with MPI: their windows are freed in MPI_Finalize. */
static int on_finalize(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm, (void)keyval, (void)value, (void)extra;
  at_step("in MPI_Finalize");
  check_window();
  MPI_Win_free(&win);
  if (my_rank == 0) printf("freed at the end\n");
  fflush(stdout);
  return MPI_SUCCESS;
}
static void window_in_finalize(void) {
  int keyval;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_finalize, &keyval, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
  make_window();
}

/* As Fortran's bindings may: nobody who knows MPI_Finalize alone sees it. */
static void by_other_name(void) {
  make_window();
  check_window();
  MPI_Win_free(&win);
  meet();
  if (my_rank == 0) printf("ok by_other_name\n");
  PMPI_Finalize();
  exit(0);
}

/* MPI ends the others. */
static void exit_of_one(void) {
  make_window();
  meet();
  if (my_rank == ranks - 1) exit(3);
  meet();
  fail("met by one who has exited");
}

/* What has no window at all, not even that which shows whose they are. */
static int has_no_window(int argc, char** argv) {
  return argc == 3 && strcmp(argv[2], "no_window") == 0;
}

int main(int argc, char** argv) {
  const struct test_case cases[] = {{"window_in_finalize", window_in_finalize},
                                    {"by_other_name", by_other_name},
                                    {"exit_of_one", exit_of_one},
                                    {NULL, NULL}};
  MPI_Init(&argc, &argv);
  if (has_no_window(argc, argv)) {
    meet();
    return MPI_Finalize();
  }
  return run_cases(argc, argv, cases);
}
