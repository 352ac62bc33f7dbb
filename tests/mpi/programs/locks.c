/*
 * Locks of windows: exclusive ones exclude each other and the shared ones, proved by counters that
 * nothing but the lock makes atomic. Everyone comes through.
 */
#include "check.h"

enum { kInts = 64 };

static struct window window;

static int* ints(void) { return (int*)window.base; }

static void open_zeroed(int kind) {
  at_step("on %s", kMemoryNames[kind]);
  window = (struct window){.kind = (enum memory_kind)kind, .size = kInts * 4, .unit = 4};
  open_window(&window, MPI_COMM_WORLD, MPI_INFO_NULL);
  lock_own(window.win, my_rank);
  memset(window.base, 0, kInts * 4);
  unlock_own(window.win, my_rank);
  meet();
}

static int read_int(int target, int at) {
  int found = -1;
  MPI_Get(&found, 1, MPI_INT, target, at, 1, MPI_INT, window.win);
  MPI_Win_flush(target, window.win);
  return found;
}
static void write_int(int target, int at, int value) {
  MPI_Put(&value, 1, MPI_INT, target, at, 1, MPI_INT, window.win);
  MPI_Win_flush(target, window.win);
}

/* Read, add, write: lost wherever two are in. */
static void increment(int target, int at) {
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window.win);
  write_int(target, at, read_int(target, at) + 1);
  MPI_Win_unlock(target, window.win);
}

static void close_counted(int at, int expected) {
  meet();
  lock_own(window.win, my_rank);
  check_equal("counter", expected, ints()[at]);
  unlock_own(window.win, my_rank);
  meet();
  close_window(&window);
}

static void exclusive(void) {
  const int rounds = is_ours ? 100 : 10;
  for (int kind = 0; kind < kMemoryKinds; ++kind) {
    open_zeroed(kind);
    for (int i = 0; i < rounds; ++i)
      for (int target = 0; target < ranks; ++target) increment((my_rank + target) % ranks, 1);
    close_counted(1, rounds * ranks);
  }
}

/* Both words are equal whenever a shared holder looks. */
static void shared_and_exclusive(void) {
  const int rounds = is_ours ? 60 : 9;
  for (int kind = 0; kind < kMemoryKinds; ++kind) {
    open_zeroed(kind);
    for (int i = 0; i < rounds; ++i) {
      if ((i + my_rank) % 2 == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window.win);
        const int found = read_int(0, 3);
        write_int(0, 3, found + 1);
        write_int(0, 40, found + 1);
        MPI_Win_unlock(0, window.win);
      } else {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window.win);
        const int first = read_int(0, 40);
        check_equal("the other word", first, read_int(0, 3));
        MPI_Win_unlock(0, window.win);
      }
    }
    int expected = 0;
    for (int rank = 0; rank < ranks; ++rank) expected += (rounds + (rank % 2 == 0)) / 2;
    close_counted(3, my_rank == 0 ? expected : 0);
  }
}

/* Shared holders are in together: each waits for all others while it holds its lock. */
static void shared_together(void) {
  for (int kind = 0; kind < kMemoryKinds; ++kind) {
    const int one = 1;
    open_zeroed(kind);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window.win);
    MPI_Accumulate(&one, 1, MPI_INT, 0, 5, 1, MPI_INT, MPI_SUM, window.win);
    MPI_Win_flush(0, window.win);
    meet();
    check_equal("holders", ranks, read_int(0, 5));
    MPI_Win_unlock(0, window.win);
    close_counted(5, my_rank == 0 ? ranks : 0);
  }
}

static void all_and_exclusive(void) {
  const int rounds = is_ours ? 60 : 10;
  for (int kind = 0; kind < kMemoryKinds; ++kind) {
    open_zeroed(kind);
    for (int i = 0; i < rounds; ++i) {
      const int target = (my_rank + i) % ranks;
      increment(target, 7);
      MPI_Win_lock_all(0, window.win);
      read_int(target, 7); /* its lock is shared now */
      const int before = read_int(target, 7);
      check_equal("nobody changes it", before, read_int(target, 7));
      MPI_Win_unlock_all(window.win);
    }
    close_counted(7, rounds);
  }
}

/* A program that knows that nobody else comes may say so. */
static void no_check(void) {
  if (is_plain("MPICH")) return; /* 4.0 hangs in the checked lock that follows */
  for (int kind = 0; kind < kMemoryKinds; ++kind) {
    open_zeroed(kind);
    for (int turn = 0; turn < ranks; ++turn) {
      if (turn == my_rank)
        for (int target = 0; target < ranks; ++target) {
          MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, MPI_MODE_NOCHECK, window.win);
          write_int(target, 9, read_int(target, 9) + 1);
          MPI_Win_unlock(target, window.win);
        }
      meet();
    }
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window.win);
    check_equal("counter", ranks, read_int((my_rank + 1) % ranks, 9));
    MPI_Win_unlock_all(window.win);
    /* Others' checked locks after unchecked ones. */
    meet();
    increment(0, 9);
    close_counted(9, my_rank == 0 ? 2 * ranks : ranks);
  }
}

/* All targets at once, in the same order at all ranks. A lock may be taken as late as at its first
 * operation, so these have that order, too. Money moves, none is lost. */
static void several_targets(void) {
  const int rounds = is_ours ? 60 : 8;
  for (int kind = 0; kind < kMemoryKinds; ++kind) {
    int sum = 0, total = 0;
    open_zeroed(kind);
    for (int i = 0; i < rounds; ++i) {
      const int from = (my_rank + i) % ranks, to = (my_rank + i + 1) % ranks;
      for (int target = 0; target < ranks; ++target) {
        MPI_Win_lock(target == from || target == to ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target,
                     0, window.win);
        read_int(target, 11);
      }
      write_int(from, 11, read_int(from, 11) - 3);
      write_int(to, 11, read_int(to, 11) + 3);
      /* Given back in the order in which they were taken, or against it. */
      for (int k = 0; k < ranks; ++k) MPI_Win_unlock(i % 2 == 0 ? k : ranks - 1 - k, window.win);
    }
    meet();
    lock_own(window.win, my_rank);
    sum = ints()[11];
    unlock_own(window.win, my_rank);
    MPI_Allreduce(&sum, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check_equal("sum of all", 0, total);
    meet();
    close_window(&window);
  }
}

/* Every rank gets its turns while all others want the same lock all the time. */
static void everyone_finishes(void) {
  /* A turn at another host is several messages, each of which may wait for a slice of time. */
  const int turns = !is_ours ? 15 : is_one_host() ? 1000 : 200;
  for (int kind = 0; kind <= kMalloc; kind += kMalloc) {
    open_zeroed(kind);
    for (int i = 0; i < turns; ++i) increment(0, 13);
    close_counted(13, my_rank == 0 ? turns * ranks : 0);
  }
}

/* Locks of different windows of the same ranks have nothing to do with each other. */
static void two_windows(void) {
  struct window other = {.kind = kAllocated, .size = kInts * 4, .unit = 4};
  open_zeroed(kMalloc);
  open_window(&other, MPI_COMM_WORLD, MPI_INFO_NULL);
  for (int turn = 0; turn < ranks; ++turn) {
    if (my_rank == turn) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, other.win);
    meet();
    increment(0, 15);
    meet();
    if (my_rank == turn) MPI_Win_unlock(0, other.win);
    meet();
  }
  close_window(&other);
  close_counted(15, my_rank == 0 ? ranks * ranks : 0);
}

/* Locks of nobody. */
static void null_target(void) {
  if (is_plain("Open MPI")) return; /* 4.1 refuses them */
  int found = -5;
  open_zeroed(kAllocated);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, MPI_PROC_NULL, 0, window.win);
  MPI_Get(&found, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, window.win);
  MPI_Win_flush(MPI_PROC_NULL, window.win);
  MPI_Win_unlock(MPI_PROC_NULL, window.win);
  check_equal("what nobody sent", -5, found);
  close_counted(0, 0);
}

int main(int argc, char** argv) {
  const struct test_case cases[] = {{"exclusive", exclusive},
                                    {"shared_and_exclusive", shared_and_exclusive},
                                    {"shared_together", shared_together},
                                    {"all_and_exclusive", all_and_exclusive},
                                    {"no_check", no_check},
                                    {"several_targets", several_targets},
                                    {"everyone_finishes", everyone_finishes},
                                    {"two_windows", two_windows},
                                    {"null_target", null_target},
                                    {NULL, NULL}};
  MPI_Init(&argc, &argv);
  return run_cases(argc, argv, cases);
}
