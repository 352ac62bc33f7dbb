/*
 * Post, start, complete, wait: nothing happens before the post, groups of some ranks, rounds.
 */
#include "check.h"

enum { kInts = 256 };

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

/* A group of the world's ranks `first`, `first` + 1, ... by turns, so many. */
static MPI_Group group_from(int first, int count) {
  MPI_Group world, group;
  int members[kMostRanks];
  for (int i = 0; i < count; ++i) members[i] = (first + i) % ranks;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, count, members, &group);
  MPI_Group_free(&world);
  return group;
}

/* Rank 0 posts late. The memory may not change before: it looks at every moment of that time. */
static void watch_then_post(MPI_Group origins, int expected) {
  const double end = MPI_Wtime() + 0.05;
  while (MPI_Wtime() < end)
    for (int i = 0; i < kInts; ++i) check_at("before the post", i, expected, ints()[i]);
  MPI_Win_post(origins, 0, window.win);
  MPI_Win_wait(window.win);
}

static void nothing_before_post(void) {
  for (int kind = 0; kind < kMemoryKinds; ++kind) {
    int sent[kInts];
    open_zeroed(kind);
    for (int round = 1; round <= 3; ++round) {
      MPI_Group origins = group_from(1, ranks - 1), target = group_from(0, 1);
      for (int i = 0; i < kInts; ++i) sent[i] = round;
      /* Every rank is here: whoever starts does so while rank 0 looks. */
      meet();
      if (my_rank == 0) {
        watch_then_post(origins, round - 1);
        for (int i = 0; i < kInts; ++i) check_at("after the wait", i, round, ints()[i]);
      } else {
        /* All origins but one change nothing: they add 0 elsewhere than it puts. */
        const int zero = 0;
        MPI_Win_start(target, 0, window.win);
        if (my_rank == 1) {
          MPI_Put(sent, kInts - 1, MPI_INT, 0, 0, kInts - 1, MPI_INT, window.win);
          const int one = 1;
          MPI_Accumulate(&one, 1, MPI_INT, 0, kInts - 1, 1, MPI_INT, MPI_SUM, window.win);
        } else {
          MPI_Accumulate(&zero, 1, MPI_INT, 0, kInts - 1, 1, MPI_INT, MPI_SUM, window.win);
        }
        MPI_Win_complete(window.win);
      }
      MPI_Group_free(&origins);
      MPI_Group_free(&target);
    }
    meet();
    close_window(&window);
  }
}

/* Each rank starts towards the next `count` ranks, and so is posted by them. */
static void ring_round(int count, int round) {
  MPI_Group targets = group_from(my_rank + 1, count);
  MPI_Group origins = group_from(my_rank + ranks - count, count);
  int values[kMostRanks];
  MPI_Win_post(origins, 0, window.win);
  MPI_Win_start(targets, 0, window.win);
  for (int i = 1; i <= count; ++i) {
    values[i - 1] = round * 1000 + my_rank;
    MPI_Put(&values[i - 1], 1, MPI_INT, (my_rank + i) % ranks, my_rank, 1, MPI_INT, window.win);
  }
  MPI_Win_complete(window.win);
  if (round % 2 == 0) {
    MPI_Win_wait(window.win);
  } else {
    int is_over = 0;
    while (!is_over) MPI_Win_test(window.win, &is_over);
  }
  for (int i = 1; i <= count; ++i) {
    const int origin = (my_rank + ranks - i) % ranks;
    check_at("put by", origin, round * 1000 + origin, ints()[origin]);
  }
  MPI_Group_free(&targets);
  MPI_Group_free(&origins);
}

/* Rounds follow each other without any barrier. */
static void groups_in_rounds(void) {
  for (int kind = 0; kind < kMemoryKinds; ++kind) {
    open_zeroed(kind);
    for (int round = 0; round < 12; ++round) ring_round(1 + round % (ranks - 1), round);
    meet();
    close_window(&window);
  }
}

/* Odd ranks are targets alone, even ones origins alone. */
static void origins_and_targets(void) {
  open_zeroed(kAllocated);
  MPI_Group all, odd, even;
  int odds[3] = {1, ranks - 1, 2}, evens[3] = {0, ranks - 1, 2}, one = 1;
  MPI_Win_get_group(window.win, &all);
  odds[1] = ranks % 2 == 0 ? ranks - 1 : ranks - 2;
  evens[1] = ranks % 2 == 0 ? ranks - 2 : ranks - 1;
  MPI_Group_range_incl(all, 1, &odds, &odd);
  MPI_Group_range_incl(all, 1, &evens, &even);
  for (int round = 1; round <= 20; ++round) {
    if (my_rank % 2 == 1) {
      MPI_Win_post(even, 0, window.win);
      MPI_Win_wait(window.win);
      check_equal("sum of a round", round * ((ranks + 1) / 2), ints()[0]);
    } else {
      MPI_Win_start(odd, 0, window.win);
      for (int target = 1; target < ranks; target += 2)
        MPI_Accumulate(&one, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_SUM, window.win);
      MPI_Win_complete(window.win);
    }
  }
  MPI_Group_free(&all);
  MPI_Group_free(&odd);
  MPI_Group_free(&even);
  meet();
  close_window(&window);
}

/* One window in each kind of epoch, one after the other. */
static void mixed_epochs(void) {
  for (int kind = 0; kind < kMemoryKinds; ++kind) {
    const int next = (my_rank + 1) % ranks, one = 1;
    open_zeroed(kind);
    for (int round = 1; round <= 5; ++round) {
      ring_round(1, round);
      meet();
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, window.win);
      MPI_Accumulate(&one, 1, MPI_INT, next, kInts - 1, 1, MPI_INT, MPI_SUM, window.win);
      MPI_Win_unlock(next, window.win);
      meet();
      MPI_Win_fence(0, window.win);
      MPI_Accumulate(&one, 1, MPI_INT, next, kInts - 1, 1, MPI_INT, MPI_SUM, window.win);
      MPI_Win_fence(MPI_MODE_NOSUCCEED, window.win);
      check_equal("by lock and fence", 3 * round - 1, ints()[kInts - 1]);
      meet();
      MPI_Win_lock_all(0, window.win);
      MPI_Accumulate(&one, 1, MPI_INT, next, kInts - 1, 1, MPI_INT, MPI_SUM, window.win);
      MPI_Win_unlock_all(window.win);
      meet();
    }
    close_window(&window);
  }
}

int main(int argc, char** argv) {
  const struct test_case cases[] = {{"nothing_before_post", nothing_before_post},
                                    {"groups_in_rounds", groups_in_rounds},
                                    {"origins_and_targets", origins_and_targets},
                                    {"mixed_epochs", mixed_epochs},
                                    {NULL, NULL}};
  MPI_Init(&argc, &argv);
  return run_cases(argc, argv, cases);
}
