/*
 * Accumulates with an operation of the program, whose target datatype names elements several times:
 * MPI forbids that for its own operations, and ours are folded one after the other, in the order of
 * the type map.
 */
#include "check.h"

/* Of the library that is preloaded. */
__attribute__((weak)) int MPIX_Op_register(MPI_Op op, int id, MPI_Win win);

enum { kPlaces = 500, kNamed = 40000 };

static long place_of(int i) { return i / 3 * 7 % kPlaces; } /* three times each, in no order */

/* It does not commute. */
static void times_and_more(void* in, void* inout, int* length, MPI_Datatype* type) {
  const unsigned* from = in;
  unsigned* to = inout;
  (void)type;
  for (int i = 0; i < *length; ++i) to[i] = to[i] * 31 + from[i];
}

static void fold_all(MPI_Win win, MPI_Op op, const unsigned* numbers) {
  int places[kNamed];
  MPI_Datatype named;
  for (int i = 0; i < kNamed; ++i) places[i] = (int)place_of(i);
  MPI_Type_create_indexed_block(kNamed, 1, places, MPI_UNSIGNED, &named);
  MPI_Type_commit(&named);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, (my_rank + 1) % ranks, 0, win);
  MPI_Accumulate(numbers, kNamed, MPI_UNSIGNED, (my_rank + 1) % ranks, 0, 1, named, op, win);
  MPI_Win_unlock((my_rank + 1) % ranks, win);
  MPI_Type_free(&named);
}

static void run_with(enum memory_kind kind, MPI_Info info) {
  struct window window = {.kind = kind, .unit = sizeof(unsigned), .size = 4 * kPlaces};
  unsigned expected[kPlaces] = {0}, numbers[kNamed];
  MPI_Op op;
  at_step("%s", kMemoryNames[kind]);
  open_window(&window, MPI_COMM_WORLD, info);
  lock_own(window.win, my_rank);
  memset(window.base, 0, (size_t)window.size);
  unlock_own(window.win, my_rank);
  MPI_Op_create(times_and_more, 0, &op);
  check_equal("MPIX_Op_register", MPI_SUCCESS, MPIX_Op_register(op, 1, window.win));
  for (int i = 0; i < kNamed; ++i) {
    numbers[i] = (unsigned)i * 2654435761u;
    expected[place_of(i)] = expected[place_of(i)] * 31 + numbers[i];
  }
  meet();
  fold_all(window.win, op, numbers);
  meet();
  lock_own(window.win, my_rank);
  for (int i = 0; i < kPlaces; ++i)
    check_at("place", i, (long)expected[i], (long)((unsigned*)window.base)[i]);
  unlock_own(window.win, my_rank);
  MPI_Op_free(&op);
  meet();
  close_window(&window);
}

static void run_in_order(void) {
  for (int kind = 0; kind < kStatic; ++kind) run_with((enum memory_kind)kind, MPI_INFO_NULL);
}

static void run_at_target(void) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "photon_op_at_target", "true");
  for (int kind = 0; kind < kStatic; ++kind) run_with((enum memory_kind)kind, info);
  MPI_Info_free(&info);
}

int main(int argc, char** argv) {
  const struct test_case cases[] = {
      {"in_order", run_in_order}, {"at_target", run_at_target}, {NULL, NULL}};
  MPI_Init(&argc, &argv);
  return run_cases(argc, argv, cases);
}
