/*
 * What the programs have whose ranks are killed at a lock: words that ranks tell each other by, the
 * pids of all, and a read-modify-write that only a lock makes whole. Each rank has a keeper.
 * Owner: the program. Threads: one.
 */
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "keeper.h"

enum { kLongestWait = 5 };

/* Words of rank 0's memory in `data`, which its lock guards; each rank has one from kOwn on. */
enum { kTotal, kInside, kSpare, kOwn = 8, kDataWords = kOwn + kMostRanks };
/* Words in `board`, by which ranks tell each other how far they are. */
enum { kHeld, kAsking, kGone, kDone, kStop, kDiedUs, kBoardWords };

static struct window data, board;
static int pids[kMostRanks];
static long long own_rounds;
static double longest_wait;

static void pause_ms(double ms) {
  const struct timespec time = {(time_t)(ms / 1000), (long)(ms * 1e6) % 1000000000L};
  nanosleep(&time, NULL);
}

/* What the kernel says of it behind its name: a letter of its state, and numbers. */
static void read_stat(int rank, char* state, unsigned* flags) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/%d/stat", pids[rank]);
  const int file = open(path, O_RDONLY);
  const ssize_t size = file < 0 ? 0 : read(file, text, sizeof text - 1);
  if (file >= 0) close(file);
  text[size > 0 ? size : 0] = '\0';
  const char* const end = strrchr(text, ')');
  *state = 'Z';
  *flags = 0;
  if (end != NULL) sscanf(end + 1, " %c %*d %*d %*d %*d %*d %u", state, flags);
  if (*state == 'X') *state = 'Z';
}
/* R, S, T and so on; Z also where it is not there any more. */
static char state_of(int rank) {
  char state;
  unsigned flags;
  read_stat(rank, &state, &flags);
  return state;
}
/* It does nothing any more. The kernel closes its connections, by which others hear of its end,
 * before its state is Z. */
static int is_gone(int rank) {
  const unsigned is_exiting = 4; /* PF_EXITING, which comes before that */
  char state;
  unsigned flags;
  read_stat(rank, &state, &flags);
  return state == 'Z' || (flags & is_exiting) != 0;
}

static void await_state(int rank, char state) {
  const double latest = MPI_Wtime() + 20;
  while (state_of(rank) != state) {
    if (MPI_Wtime() > latest) fail("rank %d does not come to state %c", rank, state);
    pause_ms(1);
  }
}
/* It sleeps at so many looks, one each millisecond, since it waits for a lock. */
static void await_asleep(int rank) {
  for (int seen = 0; seen < 10; ++seen) {
    await_state(rank, 'S');
    pause_ms(1);
  }
}

static void tell(int word, long long more) {
  MPI_Accumulate(&more, 1, MPI_LONG_LONG, 0, word, 1, MPI_LONG_LONG, MPI_SUM, board.win);
  MPI_Win_flush(0, board.win);
}
static long long told(int word) {
  long long found = -1;
  MPI_Fetch_and_op(NULL, &found, MPI_LONG_LONG, 0, word, MPI_NO_OP, board.win);
  MPI_Win_flush(0, board.win);
  return found;
}
static void await(int word, long long least) {
  const double latest = MPI_Wtime() + 30;
  while (told(word) < least) {
    if (MPI_Wtime() > latest) fail("word %d does not come to %lld", word, least);
    pause_ms(.2);
  }
}

static long long get_word(int at) {
  long long found = -1;
  MPI_Get(&found, 1, MPI_LONG_LONG, 0, at, 1, MPI_LONG_LONG, data.win);
  MPI_Win_flush(0, data.win);
  return found;
}
static void put_word(int at, long long value) {
  MPI_Put(&value, 1, MPI_LONG_LONG, 0, at, 1, MPI_LONG_LONG, data.win);
  MPI_Win_flush(0, data.win);
}
static void add_word(int at, long long more) { put_word(at, get_word(at) + more); }

static long long now_us(void) { return (long long)(MPI_Wtime() * 1e6); }

/* Of rank 0's memory. A wait counts from the death on, if that is told. */
static void lock_data(int type) {
  const long long begin = now_us();
  MPI_Win_lock(type, 0, 0, data.win);
  const long long end = now_us(), died = told(kDiedUs);
  const double waited = (double)(end - (died > begin ? died : begin)) / 1e6;
  if (waited > longest_wait) longest_wait = waited;
}
static void unlock_data(void) { MPI_Win_unlock(0, data.win); }

/* Nobody is inside, or somebody who was killed there. */
static void check_inside(void) {
  const long long inside = get_word(kInside);
  if (inside != 0 && !is_gone((int)inside - 1)) fail("rank %lld is inside as well", inside - 1);
}

/* A rank that is killed between these leaves its own word one ahead of the total. */
static void enter_round(void) {
  check_inside();
  put_word(kInside, my_rank + 1);
  check_equal("rounds of this rank", own_rounds, get_word(kOwn + my_rank));
  add_word(kOwn + my_rank, 1);
  ++own_rounds;
}
static void leave_round(void) {
  check_equal("who is inside", my_rank + 1, get_word(kInside));
  add_word(kTotal, 1);
  put_word(kInside, 0);
}

static void exclusive_round(void) {
  lock_data(MPI_LOCK_EXCLUSIVE);
  enter_round();
  leave_round();
  unlock_data();
}
static void shared_round(void) {
  lock_data(MPI_LOCK_SHARED);
  check_inside();
  const long long total = get_word(kTotal);
  sched_yield();
  check_equal("the total during a shared epoch", total, get_word(kTotal));
  unlock_data();
}

static void open_all(int kind) {
  const int pid = (int)getpid();
  MPI_Allgather(&pid, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
  data = (struct window){.kind = (enum memory_kind)kind, .size = kDataWords * 8, .unit = 8};
  board = (struct window){.kind = kAllocated, .size = kBoardWords * 8, .unit = 8};
  open_window(&data, MPI_COMM_WORLD, MPI_INFO_NULL);
  open_window(&board, MPI_COMM_WORLD, MPI_INFO_NULL);
  lock_own(data.win, my_rank);
  memset(data.base, 0, kDataWords * 8);
  unlock_own(data.win, my_rank);
  lock_own(board.win, my_rank);
  memset(board.base, 0, kBoardWords * 8);
  unlock_own(board.win, my_rank);
  meet();
  MPI_Win_lock_all(0, board.win);
  tell(kSpare, 0); /* no rank has the lock of the board still to take */
  meet();
}

/* By rank 0, at the end: what the living wrote is there, and of each dead at most one round is half
 * done. */
static void check_contents(int kills) {
  lock_data(MPI_LOCK_EXCLUSIVE);
  check_inside();
  long long all = 0;
  for (int rank = 0; rank < ranks; ++rank) all += get_word(kOwn + rank);
  const long long half_done = all - get_word(kTotal);
  if (half_done < 0 || half_done > kills)
    fail("the ranks have done %lld rounds, and the total is %lld less", all, half_done);
  if (kills == 0) check_equal("who is inside", 0, get_word(kInside));
  unlock_data();
}

/* Words of a rank that has come to its end. */
static void end_survivor(void) {
  if (longest_wait > kLongestWait) fail("it has waited %.1f s for a lock", longest_wait);
  printf("survivor %d: %lld rounds, longest wait %.1f ms\n", my_rank, own_rounds,
         longest_wait * 1e3);
  fflush(stdout);
  tell(kDone, 1);
}
static __attribute__((noreturn)) void leave(void) {
  fflush(NULL);
  _exit(0);
}
