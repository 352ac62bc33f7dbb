/*
 * Operations of the program in accumulates: MPIX_Op_register, on each kind of memory. The functions
 * are those of MPI_Op_create; the library stands before that, or it could not know them.
 */
#include <unistd.h>

#include "check.h"

/* Of the library that is preloaded. */
__attribute__((weak)) int MPIX_Op_register(MPI_Op op, int id, MPI_Win win);
__attribute__((weak)) int MPIX_Op_deregister(MPI_Op op, int id, MPI_Win win);

enum { kModulus = 10007, kMost = 64 << 10, kCount = 40000 };

/* x -> first * x + second, as the two numbers of an MPI_2INT. */
struct affine {
  int first, second;
};

static struct affine after(struct affine outer, struct affine inner) {
  const struct affine both = {(int)((long)outer.first * inner.first % kModulus),
                              (int)(((long)outer.first * inner.second + outer.second) % kModulus)};
  return both;
}

/* It does not commute: what comes later is applied later. */
static void compose(void* in, void* inout, int* length, MPI_Datatype* type) {
  const struct affine* from = in;
  struct affine* to = inout;
  if (*type != MPI_2INT) abort();
  for (int i = 0; i < *length; ++i) to[i] = after(from[i], to[i]);
}

static long longest; /* call, in bytes, of a function in this process */
static long calls;

/* It commutes: any order of the origins gives the same. */
static void add_twice(void* in, void* inout, int* length, MPI_Datatype* type) {
  const int* from = in;
  int* to = inout;
  (void)type;
  ++calls;
  if (*length * (long)sizeof(int) > longest) longest = *length * (long)sizeof(int);
  for (int i = 0; i < *length; ++i) to[i] += 2 * from[i];
}

static void put_process(void* in, void* inout, int* length, MPI_Datatype* type) {
  int* to = inout;
  (void)in;
  (void)type;
  for (int i = 0; i < *length; ++i) to[i] = (int)getpid();
}

static struct window window_of(enum memory_kind kind, MPI_Aint bytes, MPI_Info info) {
  struct window window = {.kind = kind, .unit = 1, .size = bytes};
  open_window(&window, MPI_COMM_WORLD, info);
  lock_own(window.win, my_rank);
  memset(window.base, 0, (size_t)bytes);
  unlock_own(window.win, my_rank);
  meet();
  return window;
}

static void join(MPI_Op op, int id, MPI_Win win) {
  check_equal("MPIX_Op_register", MPI_SUCCESS, MPIX_Op_register(op, id, win));
}

/* Each origin composes onto an element of its own at each target; the others' order is its own. */
static void run_order(void) {
  MPI_Op op;
  MPI_Op_create(compose, 0, &op);
  for (int kind = 0; kind < kMemoryKinds; ++kind) {
    struct window window = window_of((enum memory_kind)kind,
                                     kMostRanks * (MPI_Aint)sizeof(struct affine), MPI_INFO_NULL);
    struct affine expected = {1, 0}, one = {1, 0}, before;
    at_step("%s", kMemoryNames[kind]);
    join(op, 7, window.win);
    MPI_Win_fence(0, window.win);
    for (int target = 0; target < ranks; ++target)
      MPI_Put(&one, 1, MPI_2INT, target, my_rank * 8, 1, MPI_2INT, window.win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window.win);
    for (int i = 1; i <= 50; ++i) {
      const struct affine next = {i + 1, 3 * i + my_rank};
      const struct affine was = expected;
      expected = after(next, expected);
      for (int target = 0; target < ranks; ++target) {
        MPI_Win_lock(i % 3 == 0 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, window.win);
        if (i % 2 == 0) {
          MPI_Accumulate(&next, 1, MPI_2INT, target, my_rank * 8, 1, MPI_2INT, op, window.win);
        } else {
          MPI_Fetch_and_op(&next, &before, MPI_2INT, target, my_rank * 8, op, window.win);
          MPI_Win_flush(target, window.win);
          check_at("first before", i, was.first, before.first);
          check_at("second before", i, was.second, before.second);
        }
        MPI_Win_unlock(target, window.win);
      }
    }
    meet();
    lock_own(window.win, my_rank);
    MPI_Win_sync(window.win);
    unlock_own(window.win, my_rank);
    for (int target = 0; target < ranks; ++target) {
      MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window.win);
      MPI_Get(&before, 1, MPI_2INT, target, my_rank * 8, 1, MPI_2INT, window.win);
      MPI_Win_unlock(target, window.win);
      check_equal("first", expected.first, before.first);
      check_equal("second", expected.second, before.second);
    }
    meet();
    close_window(&window);
  }
  MPI_Op_free(&op);
}

/* All origins on the same elements, many at a time, beside sums of MPI's own on other elements. */
static void run_together(void) {
  MPI_Op op;
  int* ones = must_have(malloc(kCount * sizeof(int)));
  for (int i = 0; i < kCount; ++i) ones[i] = 1;
  MPI_Op_create(add_twice, 1, &op);
  for (int kind = 0; kind < kStatic; ++kind) {
    struct window window =
        window_of((enum memory_kind)kind, 2 * kCount * (MPI_Aint)sizeof(int), MPI_INFO_NULL);
    at_step("%s", kMemoryNames[kind]);
    longest = calls = 0;
    join(op, 0, window.win);
    MPI_Win_lock_all(0, window.win);
    for (int target = 0; target < ranks; ++target) {
      MPI_Accumulate(ones, kCount, MPI_INT, target, 0, kCount, MPI_INT, op, window.win);
      MPI_Accumulate(ones, kCount, MPI_INT, target, kCount * 4, kCount, MPI_INT, MPI_SUM,
                     window.win);
      MPI_Accumulate(ones, 3, MPI_INT, target, 40, 3, MPI_INT, op, window.win);
    }
    MPI_Win_unlock_all(window.win);
    meet();
    lock_own(window.win, my_rank);
    for (int i = 0; i < kCount; ++i) {
      const int more = i >= 10 && i < 13 ? 2 * ranks : 0;
      check_at("twice", i, 2 * ranks + more, ((int*)window.base)[i]);
      check_at("sum", i, ranks, ((int*)window.base)[kCount + i]);
    }
    unlock_own(window.win, my_rank);
    check_true("functions were called here", calls > 0);
    check_true("at most 64 KiB a call", longest <= kMost);
    meet();
    close_window(&window);
  }
  free(ones);
  MPI_Op_free(&op);
}

/* Every other element; what stood there comes back. */
static void run_derived(void) {
  enum { kPlaces = 50 };
  MPI_Op op;
  MPI_Datatype every_other;
  MPI_Type_vector(kPlaces, 1, 2, MPI_INT, &every_other);
  MPI_Type_commit(&every_other);
  MPI_Op_create(add_twice, 1, &op);
  for (int kind = 0; kind < kMemoryKinds; ++kind) {
    struct window window =
        window_of((enum memory_kind)kind, 2 * kPlaces * (MPI_Aint)sizeof(int), MPI_INFO_NULL);
    int numbers[kPlaces], found[kPlaces];
    const int target = (my_rank + 1) % ranks;
    at_step("%s", kMemoryNames[kind]);
    for (int i = 0; i < kPlaces; ++i) numbers[i] = i;
    join(op, 3, window.win);
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window.win);
    MPI_Accumulate(numbers, kPlaces, MPI_INT, target, 0, 1, every_other, op, window.win);
    MPI_Get_accumulate(numbers, kPlaces, MPI_INT, found, kPlaces, MPI_INT, target, 0, 1,
                       every_other, op, window.win);
    MPI_Win_unlock(target, window.win);
    for (int i = 0; i < kPlaces; ++i) check_at("found", i, 2 * i, found[i]);
    meet();
    lock_own(window.win, my_rank);
    for (int i = 0; i < kPlaces; ++i) {
      check_at("every other", i, 4 * i, ((int*)window.base)[2 * i]);
      check_at("between", i, 0, ((int*)window.base)[2 * i + 1]);
    }
    unlock_own(window.win, my_rank);
    meet();
    close_window(&window);
  }
  MPI_Type_free(&every_other);
  MPI_Op_free(&op);
}

/* The ways of sums and of the program's operations are one: what comes first is done first. */
static void check_order_at_target(MPI_Op op, MPI_Win win) {
  const int target = (my_rank + 1) % ranks;
  const MPI_Aint at = 4 * (kMostRanks + my_rank);
  for (int i = 0; i < 100; ++i) {
    int found = 0, before = 0;
    const int zero = 0, one = 1;
    MPI_Win_lock(i % 2 == 0 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, win);
    MPI_Accumulate(&zero, 1, MPI_INT, target, at, 1, MPI_INT, MPI_REPLACE, win);
    MPI_Accumulate(&one, 1, MPI_INT, target, at, 1, MPI_INT, op, win);
    MPI_Accumulate(&one, 1, MPI_INT, target, at, 1, MPI_INT, MPI_SUM, win);
    MPI_Get_accumulate(NULL, 0, MPI_INT, &found, 1, MPI_INT, target, at, 1, MPI_INT, MPI_NO_OP,
                       win);
    MPI_Compare_and_swap(&zero, &one, &before, MPI_INT, target, at, win);
    MPI_Win_unlock(target, win);
    check_at("replaced, twice one and one", i, 3, found);
    check_at("before", i, 3, before);
  }
}

/* With the info, the function runs in the target's process. */
static void run_at_target(void) {
  MPI_Op op, twice;
  MPI_Info info;
  int own = (int)getpid(), nothing = 0;
  int processes[kMostRanks];
  MPI_Allgather(&own, 1, MPI_INT, processes, 1, MPI_INT, MPI_COMM_WORLD);
  MPI_Info_create(&info);
  MPI_Info_set(info, "photon_op_at_target", "true");
  MPI_Op_create(put_process, 1, &op);
  MPI_Op_create(add_twice, 1, &twice);
  for (int kind = 0; kind < kMemoryKinds; ++kind) {
    struct window window = window_of((enum memory_kind)kind, 8 * kMostRanks, info);
    at_step("%s", kMemoryNames[kind]);
    join(op, 9, window.win);
    MPI_Win_lock_all(0, window.win);
    for (int target = 0; target < ranks; ++target)
      MPI_Accumulate(&nothing, 1, MPI_INT, target, 4 * my_rank, 1, MPI_INT, op, window.win);
    MPI_Win_flush_all(window.win);
    for (int target = 0; target < ranks; ++target) {
      int found = 0;
      MPI_Get(&found, 1, MPI_INT, target, 4 * my_rank, 1, MPI_INT, window.win);
      MPI_Win_flush(target, window.win);
      check_at("process", target, processes[target], found);
    }
    MPI_Win_unlock_all(window.win);
    join(twice, 4, window.win);
    check_order_at_target(twice, window.win);
    meet();
    close_window(&window);
  }
  MPI_Info_free(&info);
  MPI_Op_free(&op);
  MPI_Op_free(&twice);
}

static MPI_Win refused_in; /* by the function below */
static int refusal, inner_refusal;

static void call_mpi(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)in;
  (void)inout;
  (void)length;
  (void)type;
  int one = 1;
  refusal = class_of(MPI_Win_flush_all(refused_in));
  inner_refusal =
      class_of(MPI_Accumulate(&one, 1, MPI_INT, my_rank, 0, 1, MPI_INT, MPI_SUM, refused_in));
}

static void run_errors(void) {
  MPI_Op op, other;
  int one = 1;
  struct window window = window_of(kAllocated, 64, MPI_INFO_NULL);
  MPI_Win_set_errhandler(window.win, MPI_ERRORS_RETURN);
  MPI_Op_create(add_twice, 1, &op);
  MPI_Op_create(call_mpi, 1, &other);
  MPI_Win_lock_all(0, window.win);
  check_equal("not registered", MPI_ERR_OP,
              class_of(MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, op, window.win)));
  MPI_Win_unlock_all(window.win);
  at_step("numbers differ");
  if (ranks > 1)
    check_equal("class", MPI_ERR_ARG, class_of(MPIX_Op_register(op, my_rank % 2, window.win)));
  at_step("a negative number");
  check_equal("class", MPI_ERR_ARG, class_of(MPIX_Op_register(op, -1, window.win)));
  at_step("MPI's own");
  check_equal("class", MPI_ERR_OP, class_of(MPIX_Op_register(MPI_SUM, 1, window.win)));
  at_step("one rank refuses");
  const int class = class_of(MPIX_Op_register(my_rank == 0 ? MPI_SUM : op, 1, window.win));
  check_equal("class", MPI_ERR_OP, class);
  at_step("a second time");
  join(op, 1, window.win);
  check_equal("class", MPI_ERR_ARG, class_of(MPIX_Op_register(op, 2, window.win)));
  check_equal("class", MPI_ERR_ARG, class_of(MPIX_Op_register(other, 1, window.win)));
  at_step("by another number");
  check_equal("class", MPI_ERR_OP, class_of(MPIX_Op_deregister(op, 2, window.win)));
  at_step("in use");
  MPI_Win_lock_all(0, window.win);
  MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, op, window.win);
  check_equal("class", MPI_SUCCESS, class_of(MPIX_Op_deregister(op, 1, window.win)));
  check_equal("class", MPI_ERR_OP,
              class_of(MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, op, window.win)));
  MPI_Win_unlock_all(window.win);
  meet();
  lock_own(window.win, my_rank);
  check_equal("what was issued before", my_rank == 0 ? 2 * ranks : 0, *(int*)window.base);
  unlock_own(window.win, my_rank);
  at_step("a call of MPI in it");
  join(other, 5, window.win);
  refused_in = window.win;
  refusal = MPI_SUCCESS;
  MPI_Win_lock_all(0, window.win);
  MPI_Accumulate(&one, 1, MPI_INT, my_rank, 0, 1, MPI_INT, other, window.win);
  MPI_Win_unlock_all(window.win);
  check_equal("class", MPI_ERR_OTHER, refusal);
  check_equal("class", MPI_ERR_OTHER, inner_refusal);
  meet();
  close_window(&window);
  MPI_Op_free(&op);
  MPI_Op_free(&other);
}

/* MPI may give the handle of a freed operation to the next; the number stays with the window. */
static void run_handles(void) {
  MPI_Op op;
  const int one = 1;
  struct window window = window_of(kAllocated, 64, MPI_INFO_NULL);
  MPI_Win_set_errhandler(window.win, MPI_ERRORS_RETURN);
  MPI_Op_create(add_twice, 1, &op);
  join(op, 6, window.win);
  MPI_Op_free(&op);
  MPI_Op_create(add_twice, 1, &op);
  MPI_Win_lock_all(0, window.win);
  check_equal("class", MPI_ERR_OP,
              class_of(MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, op, window.win)));
  MPI_Win_unlock_all(window.win);
  check_equal("the number alone", MPI_SUCCESS, MPIX_Op_deregister(MPI_OP_NULL, 6, window.win));
  join(op, 6, window.win);
  meet();
  close_window(&window);
  MPI_Op_free(&op);
}

/* A freed operation is known to windows that had it: who has another handle of it may go on. */
static void run_many(void) {
  enum { kOps = 48 };
  MPI_Op ops[kOps + 1];
  int one = 1;
  struct window window = window_of(kAllocated, 64, MPI_INFO_NULL);
  MPI_Win_set_errhandler(window.win, MPI_ERRORS_RETURN);
  for (int i = 0; i <= kOps; ++i) MPI_Op_create(add_twice, 1, &ops[i]);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < kOps; ++i) join(ops[i], 1000 * i + round, window.win);
    check_equal("one more", MPI_ERR_ARG, class_of(MPIX_Op_register(ops[kOps], 1, window.win)));
    MPI_Win_fence(0, window.win);
    for (int i = 0; i < kOps; ++i)
      MPI_Accumulate(&one, 1, MPI_INT, i % ranks, 0, 1, MPI_INT, ops[i], window.win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window.win);
    for (int i = 0; i < kOps; ++i)
      check_equal("deregister", MPI_SUCCESS,
                  MPIX_Op_deregister(ops[i], 1000 * i + round, window.win));
  }
  lock_own(window.win, my_rank);
  int mine = 0;
  for (int i = 0; i < kOps; ++i) mine += i % ranks == my_rank;
  check_equal("sum", 2 * 2 * ranks * mine, *(int*)window.base);
  unlock_own(window.win, my_rank);
  for (int i = 0; i <= kOps; ++i) MPI_Op_free(&ops[i]);
  close_window(&window);
}

int main(int argc, char** argv) {
  const struct test_case cases[] = {{"order", run_order},     {"together", run_together},
                                    {"derived", run_derived}, {"at_target", run_at_target},
                                    {"errors", run_errors},   {"handles", run_handles},
                                    {"many", run_many},       {NULL, NULL}};
  MPI_Init(&argc, &argv);
  return run_cases(argc, argv, cases);
}
