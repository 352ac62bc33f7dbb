/*
 * Whoever waits in a call of a window serves the other calls of MPI, and the other way round.
 */
#include "check.h"

enum { kLargeBytes = 8 << 20 };

static int* open_ints(struct window* window, int kind) {
  *window = (struct window){.kind = (enum memory_kind)kind, .size = 4096, .unit = 4};
  at_step("on %s", kMemoryNames[kind]);
  open_window(window, MPI_COMM_WORLD, MPI_INFO_NULL);
  lock_own(window->win, my_rank);
  memset(window->base, 0, 4096);
  unlock_own(window->win, my_rank);
  meet();
  return (int*)window->base;
}

enum waits { kInFence, kInLock, kInWait, kInStart };

/* Rank 0 waits in that call; the message that rank 1 needs first comes of rank 0's calls alone. */
static void wait_in(enum waits waits, MPI_Win win) {
  MPI_Group other;
  const int one[1] = {1};
  MPI_Group all;
  MPI_Win_get_group(win, &all);
  MPI_Group_incl(all, 1, one, &other);
  switch (waits) {
    case kInFence: MPI_Win_fence(0, win); break;
    case kInLock:
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
      MPI_Win_unlock(1, win);
      break;
    case kInWait:
      MPI_Win_post(other, 0, win);
      MPI_Win_wait(win);
      break;
    default: MPI_Win_start(other, 0, win); MPI_Win_complete(win);
  }
  MPI_Group_free(&all);
  MPI_Group_free(&other);
}

static void end_wait(enum waits waits, MPI_Win win) {
  MPI_Group all, other;
  const int zero[1] = {0};
  MPI_Win_get_group(win, &all);
  MPI_Group_incl(all, 1, zero, &other);
  switch (waits) {
    case kInFence: MPI_Win_fence(0, win); break;
    case kInLock: MPI_Win_unlock(1, win); break;
    case kInWait:
      MPI_Win_start(other, 0, win);
      MPI_Win_complete(win);
      break;
    default: MPI_Win_post(other, 0, win); MPI_Win_wait(win);
  }
  MPI_Group_free(&all);
  MPI_Group_free(&other);
}

/* An MPI_Isend this large needs its sender again after the receiver has come. */
static void serve_rendezvous(enum waits waits) {
  char* memory = must_have(malloc(kLargeBytes));
  for (int kind = 0; kind < kMalloc + 1; ++kind) {
    struct window window;
    MPI_Request request;
    open_ints(&window, kind);
    at_step("waits in %d, on %s", (int)waits, kMemoryNames[kind]);
    if (my_rank == 1 && waits == kInLock) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window.win);
    meet();
    memset(memory, my_rank == 0 ? 7 : 0, kLargeBytes);
    if (my_rank == 0) {
      MPI_Isend(memory, kLargeBytes, MPI_BYTE, 1, 3, MPI_COMM_WORLD, &request);
      wait_in(waits, window.win);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (my_rank == 1) {
      MPI_Recv(memory, kLargeBytes, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      check_equal("the last byte received", 7, memory[kLargeBytes - 1]);
      end_wait(waits, window.win);
    } else if (waits == kInFence) {
      MPI_Win_fence(0, window.win);
    }
    if (waits == kInFence) MPI_Win_fence(MPI_MODE_NOSUCCEED, window.win);
    meet();
    close_window(&window);
  }
  free(memory);
}

static void fence_serves(void) { serve_rendezvous(kInFence); }
static void lock_serves(void) { serve_rendezvous(kInLock); }
static void wait_serves(void) { serve_rendezvous(kInWait); }
static void start_serves(void) { serve_rendezvous(kInStart); }

/* The target sits in MPI_Recv; the message comes when the others are done with its memory. */
static void target_in_recv(void) {
  for (int kind = 0; kind < kMemoryKinds; ++kind) {
    struct window window;
    int* ints = open_ints(&window, kind);
    const int one = 1, rounds = 50;
    int fetched = -1;
    if (my_rank == 0) {
      for (int origin = 1; origin < ranks; ++origin)
        MPI_Recv(&fetched, 1, MPI_INT, origin, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      lock_own(window.win, 0);
      check_equal("sum", rounds * (ranks - 1), ints[3]);
      check_equal("tickets", rounds * (ranks - 1), ints[9]);
      unlock_own(window.win, 0);
    } else {
      for (int i = 0; i < rounds; ++i) {
        MPI_Win_lock(i % 2 == 0 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, 0, window.win);
        MPI_Accumulate(&one, 1, MPI_INT, 0, 3, 1, MPI_INT, MPI_SUM, window.win);
        MPI_Fetch_and_op(&one, &fetched, MPI_INT, 0, 9, MPI_SUM, window.win);
        MPI_Win_unlock(0, window.win);
      }
      MPI_Send(&fetched, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    }
    meet();
    close_window(&window);
  }
}

/* The target computes and calls no MPI for a while, and the others are through before it is over.
 * How long that is they say themselves: the target ends when a word of its memory says so. */
static void target_computes(void) {
  if (!is_ours) return; /* MPI does not promise it; this is what ours are for. */
  for (int kind = 0; kind < kMemoryKinds; ++kind) {
    struct window window;
    /* Read again at each look. */
    volatile int* ints = open_ints(&window, kind);
    const int one = 1;
    if (my_rank == 0) {
      const double latest = MPI_Wtime() + 20;
      while (ints[7] < ranks - 1)
        if (MPI_Wtime() > latest) fail("the origins wait for the target");
    } else {
      for (int i = 0; i < 50; ++i) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window.win);
        MPI_Accumulate(&one, 1, MPI_INT, 0, 3, 1, MPI_INT, MPI_SUM, window.win);
        MPI_Win_unlock(0, window.win);
      }
      MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window.win);
      MPI_Accumulate(&one, 1, MPI_INT, 0, 7, 1, MPI_INT, MPI_SUM, window.win);
      MPI_Win_unlock(0, window.win);
    }
    meet();
    lock_own(window.win, my_rank);
    if (my_rank == 0) check_equal("sum", 50 * (ranks - 1), ints[3]);
    unlock_own(window.win, my_rank);
    meet();
    close_window(&window);
  }
}

int main(int argc, char** argv) {
  const struct test_case cases[] = {{"fence_serves_rendezvous", fence_serves},
                                    {"lock_serves_rendezvous", lock_serves},
                                    {"wait_serves_rendezvous", wait_serves},
                                    {"start_serves_rendezvous", start_serves},
                                    {"target_in_recv", target_in_recv},
                                    {"target_computes", target_computes},
                                    {NULL, NULL}};
  MPI_Init(&argc, &argv);
  return run_cases(argc, argv, cases);
}
