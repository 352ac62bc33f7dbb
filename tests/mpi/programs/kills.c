/*
 * A rank is killed or stopped that holds a lock, shares it, or waits for it. The others go on.
 *
 *   kills ours CASE KIND [SEED]      KIND: allocated, malloc; of rank 0's memory
 *
 * Rank 0 is the target and kills; ranks 1 and 2 survive; those above are killed. Survivors print
 * a line each, and rank 0 "ok CASE" at last. Of how the job ends nothing follows.
 */
#include "kills.h"

enum { kRounds = 10, kSurvivors = 2, kVictim = kSurvivors + 1 };

static unsigned long long random_state;
static unsigned random_below(unsigned limit) {
  random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (unsigned)(random_state >> 33) % limit;
}

static void do_rounds(void) {
  for (int i = 0; i < kRounds; ++i) {
    exclusive_round();
    shared_round();
  }
  end_survivor();
}

/* By rank 0. */
static void await_survivors(void) {
  await(kDone, kSurvivors);
  check_contents(ranks - 1 - kSurvivors);
}

/* The victim dies in its epoch; the survivors wait already, or do not. */
static void die_in_epoch(int type) {
  lock_data(type);
  if (type == MPI_LOCK_EXCLUSIVE) enter_round();
  tell(kHeld, 1);
  await(kAsking, kSurvivors);
  await_asleep(1);
  await_asleep(2);
  tell(kDiedUs, now_us());
  raise(SIGKILL);
}
static void killed_holder(int type) {
  if (my_rank == kVictim) die_in_epoch(type);
  if (my_rank == 0) {
    await_survivors();
    return;
  }
  await(kHeld, 1);
  tell(kAsking, 1);
  if (my_rank == 2 && type == MPI_LOCK_EXCLUSIVE) shared_round();
  do_rounds();
}
static void killed_exclusive(void) { killed_holder(MPI_LOCK_EXCLUSIVE); }
static void killed_shared(void) { killed_holder(MPI_LOCK_SHARED); }

/* The survivors first look when the holder is not there any more: nobody has told them. */
static void holder_never_met(void) {
  if (my_rank == kVictim) {
    lock_data(MPI_LOCK_EXCLUSIVE);
    enter_round();
    tell(kHeld, 1);
    raise(SIGKILL);
  } else if (my_rank == 0) {
    await_state(kVictim, 'Z');
    tell(kGone, 1);
    await_survivors();
  } else {
    await(kGone, 1);
    do_rounds();
  }
}

/* Rank 1 is in, in one way or the other; rank 0 kills the victim, which waits for it. */
static void killed_waiting(int type) {
  switch (my_rank) {
    case 0:
      await(kAsking, 1);
      await_asleep(kVictim);
      kill(pids[kVictim], SIGKILL);
      await_state(kVictim, 'Z');
      tell(kGone, 1);
      await_survivors();
      return;
    case 1:
      lock_data(type);
      tell(kHeld, 1);
      await(kGone, 2); /* rank 2 asks, too, and may even be through */
      unlock_data();
      break;
    case 2:
      await(kGone, 1);
      tell(kGone, 1);
      if (type == MPI_LOCK_SHARED) shared_round();
      break;
    default:
      await(kHeld, 1);
      tell(kAsking, 1);
      exclusive_round();
      fail("it was let in beside rank 1");
  }
  do_rounds();
}
static void killed_behind_owner(void) { killed_waiting(MPI_LOCK_EXCLUSIVE); }
static void killed_behind_sharer(void) { killed_waiting(MPI_LOCK_SHARED); }

/* Looks for a second and a half that nobody takes the place of one who is stopped. */
static void watch_stopped(void) {
  await(kAsking, kSurvivors);
  await_state(kVictim, 'T');
  const double end = MPI_Wtime() + 1.5;
  while (MPI_Wtime() < end) {
    const volatile long long* const words = (const long long*)data.base;
    check_equal("who is inside", kVictim + 1, words[kInside]);
    check_equal("the total", 0, words[kTotal]);
    pause_ms(1);
  }
  kill(pids[kVictim], SIGCONT);
}
static void stopped_holder(void) {
  if (my_rank == kVictim) {
    lock_data(MPI_LOCK_EXCLUSIVE);
    enter_round();
    tell(kHeld, 1);
    raise(SIGSTOP);
    leave_round();
    unlock_data();
  } else if (my_rank == 0) {
    watch_stopped();
  } else {
    await(kHeld, 1);
    tell(kAsking, 1);
    lock_data(MPI_LOCK_EXCLUSIVE);
    check_true("the holder is through", get_word(kTotal) >= 1);
    unlock_data();
  }
  do_rounds();
  await(kDone, ranks);
  if (my_rank == 0) check_contents(0);
  MPI_Win_unlock_all(board.win);
  close_window(&board);
  close_window(&data);
  if (my_rank == 0) printf("ok %s\n", case_name);
  MPI_Finalize();
  leave();
}

/* All that can be killed in between: window locks of both kinds, and sums under the other lock. */
static void random_rounds(void) {
  const long double one = 1;
  while (told(kStop) == 0) {
    switch (random_below(4)) {
      case 0: shared_round(); break;
      case 1:
        lock_data(MPI_LOCK_SHARED);
        MPI_Accumulate(&one, 1, MPI_LONG_DOUBLE, 0, kSpare, 1, MPI_LONG_DOUBLE, MPI_REPLACE,
                       data.win);
        unlock_data();
        break;
      default: exclusive_round();
    }
  }
}

/* Each of the living has come through once more. */
static void await_progress(void) {
  const volatile long long* const words = (const long long*)data.base;
  const double latest = MPI_Wtime() + kLongestWait;
  for (int rank = 1; rank < ranks; ++rank) {
    const long long before = words[kOwn + rank];
    while (words[kOwn + rank] < before + 2) {
      if (is_gone(rank)) break;
      if (MPI_Wtime() > latest) fail("rank %d does not go on", rank);
      pause_ms(.5);
    }
  }
}

static void random_moments(void) {
  if (my_rank != 0) {
    random_rounds();
    if (my_rank > kSurvivors) fail("it was to be killed");
    end_survivor();
    return;
  }
  await_progress();
  for (int victim = kVictim; victim < ranks; ++victim) {
    pause_ms(random_below(20000) / 1e3); /* when it dies is left to chance */
    kill(pids[victim], SIGKILL);
    await_state(victim, 'Z');
    await_progress();
  }
  tell(kStop, 1);
  await_survivors();
}

/* The others hear of it, each time, and none of them waits for ever. */
static void killed_before_fence(void) {
  MPI_Group all, dead;
  const int victim = kVictim;
  MPI_Win_set_errhandler(data.win, MPI_ERRORS_RETURN);
  check_equal("a fence of all", MPI_SUCCESS, MPI_Win_fence(0, data.win));
  if (my_rank == kVictim) {
    await_asleep(1);
    await_asleep(2);
    raise(SIGKILL);
  }
  for (int i = 0; i < 3; ++i)
    check_equal("a fence without one", MPI_ERR_OTHER, class_of(MPI_Win_fence(0, data.win)));
  MPI_Win_get_group(data.win, &all);
  MPI_Group_incl(all, 1, &victim, &dead);
  check_equal("a start of a dead one", MPI_ERR_OTHER, class_of(MPI_Win_start(dead, 0, data.win)));
  if (my_rank != 0) end_survivor();
  if (my_rank == 0) await(kDone, kSurvivors);
}

int main(int argc, char** argv) {
  const struct test_case cases[] = {{"killed_exclusive", killed_exclusive},
                                    {"killed_shared", killed_shared},
                                    {"killed_behind_owner", killed_behind_owner},
                                    {"killed_behind_sharer", killed_behind_sharer},
                                    {"holder_never_met", holder_never_met},
                                    {"stopped_holder", stopped_holder},
                                    {"random_moments", random_moments},
                                    {"killed_before_fence", killed_before_fence},
                                    {NULL, NULL}};
  begin_under_keeper();
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  case_name = argv[0];
  if (argc < 4 || ranks <= kVictim || ranks > kMostRanks)
    fail("usage: %s ours CASE allocated|malloc [SEED], with 4 to %d ranks", argv[0], kMostRanks);
  is_ours = strcmp(argv[1], "ours") == 0;
  find_hosts();
  check_windows_are_ours();
  random_state = (argc > 4 ? strtoull(argv[4], NULL, 10) : 1) * 1000003 + (unsigned)my_rank;
  const struct test_case* one = cases;
  while (one->name != NULL && strcmp(one->name, argv[2]) != 0) ++one;
  if (one->name == NULL) fail("there is no case %s", argv[2]);
  case_name = one->name;
  at_step("on %s memory", argv[3]);
  open_all(strcmp(argv[3], "malloc") == 0 ? kMalloc : kAllocated);
  one->run();
  if (my_rank == 0) printf("ok %s\n", case_name);
  leave();
}
