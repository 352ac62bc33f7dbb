/*
 * MPI_THREAD_MULTIPLE: several threads of each rank use one window, on different targets and on the
 * same one, and several windows at once. Where MPI has no such level the cases say so and pass.
 */
#include <pthread.h>

#include "check.h"

enum { kThreads = 3, kInts = 256, kTurns = 60 };

static int level;
static struct window windows[kThreads];

struct worker {
  pthread_t thread;
  int number;
};

static void run_threads(void* (*body)(void*)) {
  struct worker workers[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    workers[i].number = i;
    if (pthread_create(&workers[i].thread, NULL, body, &workers[i]) != 0) fail("no thread");
  }
  for (int i = 0; i < kThreads; ++i) pthread_join(workers[i].thread, NULL);
}

static int is_missing(void) {
  if (level == MPI_THREAD_MULTIPLE) return 0;
  if (my_rank == 0) printf("no MPI_THREAD_MULTIPLE here\n");
  return 1;
}

static void open_windows(int kind, int count) {
  at_step("on %s", kMemoryNames[kind]);
  for (int i = 0; i < count; ++i) {
    windows[i] = (struct window){.kind = (enum memory_kind)kind, .size = kInts * 4, .unit = 4};
    open_window(&windows[i], MPI_COMM_WORLD, MPI_INFO_NULL);
    lock_own(windows[i].win, my_rank);
    memset(windows[i].base, 0, kInts * 4);
    unlock_own(windows[i].win, my_rank);
  }
  meet();
}

static void close_windows(int count, long long expected) {
  meet();
  for (int i = 0; i < count; ++i) {
    lock_own(windows[i].win, my_rank);
    long long sum = 0;
    for (int k = 0; k < kInts; ++k) sum += ((int*)windows[i].base)[k];
    check_at("sum of window", i, expected, sum);
    unlock_own(windows[i].win, my_rank);
  }
  meet();
  for (int i = 0; i < count; ++i) close_window(&windows[i]);
}

/* Inside one lock_all that the main thread has made. */
static void* add_in_lock_all(void* argument) {
  const struct worker* worker = argument;
  const MPI_Win win = windows[0].win;
  for (int i = 0; i < kTurns; ++i) {
    const int target = (my_rank + worker->number + i) % ranks, one = 1;
    int fetched = -1;
    MPI_Accumulate(&one, 1, MPI_INT, target, 7, 1, MPI_INT, MPI_SUM, win);
    MPI_Fetch_and_op(&one, &fetched, MPI_INT, target, 9, MPI_SUM, win);
    MPI_Win_flush(target, win);
    check_true("fetched", fetched >= 0 && fetched < kTurns * kThreads * ranks);
  }
  return NULL;
}

static void one_window(void) {
  if (is_missing()) return;
  for (int kind = 0; kind < kMemoryKinds; ++kind) {
    open_windows(kind, 1);
    MPI_Win_lock_all(0, windows[0].win);
    run_threads(add_in_lock_all);
    MPI_Win_unlock_all(windows[0].win);
    long long all = 2LL * kTurns * kThreads * ranks, sum = 0, mine = 0;
    meet();
    lock_own(windows[0].win, my_rank);
    mine = ((int*)windows[0].base)[7] + ((int*)windows[0].base)[9];
    unlock_own(windows[0].win, my_rank);
    MPI_Allreduce(&mine, &sum, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    check_equal("sum of all", all, sum);
    close_windows(1, mine);
  }
}

/* Each thread has a target of its own, which it locks for itself: ranks of the other threads' too.
 * A thread takes target t only if t mod kThreads is its number: no two of a rank lock one target.
 */
static void* lock_targets(void* argument) {
  const struct worker* worker = argument;
  const MPI_Win win = windows[0].win;
  for (int i = 0; i < kTurns; ++i)
    for (int target = worker->number; target < ranks; target += kThreads) {
      int found = -1;
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
      MPI_Get(&found, 1, MPI_INT, target, 3, 1, MPI_INT, win);
      MPI_Win_flush(target, win);
      ++found;
      MPI_Put(&found, 1, MPI_INT, target, 3, 1, MPI_INT, win);
      MPI_Win_unlock(target, win);
    }
  return NULL;
}

static void different_targets(void) {
  if (is_missing()) return;
  for (int kind = 0; kind < kMemoryKinds; ++kind) {
    open_windows(kind, 1);
    run_threads(lock_targets);
    close_windows(1, (long long)kTurns * ranks);
  }
}

/* A window for each thread, in epochs of several kinds. */
static void* use_own_window(void* argument) {
  const struct worker* worker = argument;
  const MPI_Win win = windows[worker->number].win;
  const int one = 1;
  for (int i = 0; i < kTurns / 4; ++i) {
    const int target = (my_rank + i) % ranks;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
    MPI_Accumulate(&one, 1, MPI_INT, target, i, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_unlock(target, win);
    MPI_Win_fence(0, win);
    MPI_Accumulate(&one, 1, MPI_INT, target, i, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  }
  return NULL;
}

static void several_windows(void) {
  if (is_missing()) return;
  for (int kind = 0; kind < kStatic; ++kind) { /* static memory is there for one window */
    open_windows(kind, kThreads);
    run_threads(use_own_window);
    close_windows(kThreads, 2LL * (kTurns / 4));
  }
}

int main(int argc, char** argv) {
  const struct test_case cases[] = {{"one_window", one_window},
                                    {"different_targets", different_targets},
                                    {"several_windows", several_windows},
                                    {NULL, NULL}};
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  return run_cases(argc, argv, cases);
}
