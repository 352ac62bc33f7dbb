/*
 * Accumulates of several origins that meet on the same words, whatever way each of them takes. All
 * sums are of whole numbers, so they are exact in every order.
 */
#include "check.h"

enum { kWords = 2048 };

static struct window window;

static void open_zeroed(int kind, MPI_Aint size) {
  at_step("on %s", kMemoryNames[kind]);
  window = (struct window){.kind = (enum memory_kind)kind, .size = size, .unit = 1};
  open_window(&window, MPI_COMM_WORLD, MPI_INFO_NULL);
  lock_own(window.win, my_rank);
  memset(window.base, 0, (size_t)size);
  unlock_own(window.win, my_rank);
  meet();
}

/* The memory of rank 0 has `each` in each of its words of that type. */
static void check_sums(MPI_Datatype type, int words, long long each) {
  meet();
  if (my_rank == 0) {
    lock_own(window.win, 0);
    for (int i = 0; i < words; ++i) {
      if (type == MPI_DOUBLE) check_real("word", i, (double)each, ((double*)window.base)[i]);
      if (type == MPI_INT64_T) check_at("word", i, each, ((int64_t*)window.base)[i]);
    }
    unlock_own(window.win, 0);
  }
  meet();
  close_window(&window);
}

/* How one origin adds 1 to each of the words. */
enum way { kWhole, kDerived, kSingly, kPieces, kWithResult, kWays };

static void add_ones(enum way way, MPI_Datatype type, const void* ones) {
  const MPI_Aint size = 8;
  static double dropped[kWords];
  MPI_Datatype odd;
  switch (way) {
    case kWhole: /* 16 KiB in one call */
      MPI_Accumulate(ones, kWords, type, 0, 0, kWords, type, MPI_SUM, window.win);
      break;
    case kDerived: /* every second word, then those between them */
      MPI_Type_vector(kWords / 2, 1, 2, type, &odd);
      MPI_Type_commit(&odd);
      for (int first = 0; first < 2; ++first)
        MPI_Accumulate(ones, kWords / 2, type, 0, first * size, 1, odd, MPI_SUM, window.win);
      MPI_Type_free(&odd);
      break;
    case kSingly:
      for (int i = 0; i < kWords; ++i)
        MPI_Accumulate(ones, 1, type, 0, i * size, 1, type, MPI_SUM, window.win);
      break;
    case kPieces: /* 8 KiB, then 64 bytes at a time */
      MPI_Accumulate(ones, kWords / 2, type, 0, 0, kWords / 2, type, MPI_SUM, window.win);
      for (int i = kWords / 2; i < kWords; i += 8)
        MPI_Accumulate(ones, 8, type, 0, i * size, 8, type, MPI_SUM, window.win);
      break;
    default:
      MPI_Get_accumulate(ones, kWords, type, dropped, kWords, type, 0, 0, kWords, type, MPI_SUM,
                         window.win);
  }
}

/* Each origin has the ways by turns, and begins with another one. */
static void meet_on_words(const enum way* ways, int count, MPI_Datatype type) {
  const int rounds = is_ours ? 2 * count : count;
  static union {
    double real[kWords];
    int64_t whole[kWords];
  } ones;
  for (int i = 0; i < kWords; ++i) {
    if (type == MPI_DOUBLE) ones.real[i] = 1;
    if (type == MPI_INT64_T) ones.whole[i] = 1;
  }
  for (int kind = 0; kind < kMemoryKinds; ++kind) {
    open_zeroed(kind, kWords * 8);
    MPI_Win_lock_all(0, window.win);
    for (int round = 0; round < rounds; ++round) {
      add_ones(ways[(my_rank + round) % count], type, &ones);
      MPI_Win_flush(0, window.win);
    }
    MPI_Win_unlock_all(window.win);
    check_sums(type, kWords, (long long)rounds * ranks);
  }
}

static void contiguous_and_derived(void) {
  const enum way ways[] = {kWhole, kDerived};
  meet_on_words(ways, 2, MPI_INT64_T);
  meet_on_words(ways, 2, MPI_DOUBLE);
}

static void bulk_and_small(void) {
  const enum way ways[] = {kWhole, kSingly, kPieces, kWithResult};
  meet_on_words(ways, 4, MPI_INT64_T);
  meet_on_words(ways, 4, MPI_DOUBLE);
}

/* The rank whose memory it is adds, too. It is where a thread of the target's computes. */
static void thread_and_origin(void) {
  const enum way ways[] = {kSingly, kDerived, kWhole};
  meet_on_words(ways, 3, MPI_INT64_T);
}

/* Each number is given to one. */
static void tickets(void) {
  enum { kEach = 150 };
  for (int kind = 0; kind < kMemoryKinds; ++kind) {
    static int64_t mine[kEach], all[kMostRanks * kEach];
    const int64_t one = 1;
    open_zeroed(kind, 64);
    MPI_Win_lock_all(0, window.win);
    for (int i = 0; i < kEach; ++i) {
      if (i % 3 == 2)
        MPI_Get_accumulate(&one, 1, MPI_INT64_T, &mine[i], 1, MPI_INT64_T, 0, 8, 1, MPI_INT64_T,
                           MPI_SUM, window.win);
      else
        MPI_Fetch_and_op(&one, &mine[i], MPI_INT64_T, 0, 8, MPI_SUM, window.win);
      MPI_Win_flush(0, window.win);
      if (i > 0) check_true("tickets of one rank ascend", mine[i] > mine[i - 1]);
    }
    MPI_Win_unlock_all(window.win);
    MPI_Gather(mine, kEach, MPI_INT64_T, all, kEach, MPI_INT64_T, 0, MPI_COMM_WORLD);
    static char seen[kMostRanks * kEach];
    memset(seen, 0, sizeof seen);
    for (int i = 0; my_rank == 0 && i < ranks * kEach; ++i) {
      check_true("a ticket is in range", all[i] >= 0 && all[i] < ranks * kEach);
      check_at("times a ticket was given", all[i], 0, seen[all[i]]);
      seen[all[i]] = 1;
    }
    meet();
    close_window(&window);
  }
}

/* A stack of claims by compare-and-swap: who finds the word free takes it and gives it back. */
static void swaps(void) {
  if (is_plain("Open MPI")) return; /* 4.1 ends with a signal */
  for (int kind = 0; kind < kMemoryKinds; ++kind) {
    const int32_t nobody = 0, me = my_rank + 1;
    open_zeroed(kind, 64);
    MPI_Win_lock_all(0, window.win);
    for (int i = 0; i < 20; ++i) {
      int32_t found = -1, count = 0;
      do {
        MPI_Compare_and_swap(&me, &nobody, &found, MPI_INT32_T, 0, 4, window.win);
        MPI_Win_flush(0, window.win);
      } while (found != nobody);
      MPI_Fetch_and_op(NULL, &count, MPI_INT32_T, 0, 12, MPI_NO_OP, window.win);
      MPI_Win_flush(0, window.win);
      ++count;
      MPI_Fetch_and_op(&count, &found, MPI_INT32_T, 0, 12, MPI_REPLACE, window.win);
      MPI_Win_flush(0, window.win);
      MPI_Compare_and_swap(&nobody, &me, &found, MPI_INT32_T, 0, 4, window.win);
      MPI_Win_flush(0, window.win);
      check_equal("the owner that was given back", me, found);
    }
    MPI_Win_unlock_all(window.win);
    meet();
    lock_own(window.win, my_rank);
    if (my_rank == 0) check_equal("count", 20 * ranks, ((int32_t*)window.base)[3]);
    unlock_own(window.win, my_rank);
    meet();
    close_window(&window);
  }
}

struct double_int {
  double value;
  int index;
};

/* Elements that no instruction adds: all of them in one window, whose every kind has its place. */
enum { kByte = 0, kShort = 8, kInt = 16, kLongDouble = 32, kPair = 64, kComplex = 96, kOdd = 131 };

static void add_others(int round) {
  const MPI_Win win = window.win;
  const int8_t byte = 1;
  const int16_t two = 1;
  const int32_t four = 1;
  const int64_t odd[3] = {1, 2, 3};
  const long double wide = 1;
  const double complex_one[2] = {1, -1};
  const struct double_int pair = {round * ranks + my_rank + 1, my_rank};
  MPI_Accumulate(&byte, 1, MPI_INT8_T, 0, kByte + round % 8, 1, MPI_INT8_T, MPI_SUM, win);
  MPI_Accumulate(&two, 1, MPI_INT16_T, 0, kShort + round % 4 * 2, 1, MPI_INT16_T, MPI_SUM, win);
  MPI_Accumulate(&four, 1, MPI_INT32_T, 0, kInt + round % 2 * 4, 1, MPI_INT32_T, MPI_SUM, win);
  MPI_Accumulate(&wide, 1, MPI_LONG_DOUBLE, 0, kLongDouble, 1, MPI_LONG_DOUBLE, MPI_SUM, win);
  MPI_Accumulate(complex_one, 1, MPI_C_DOUBLE_COMPLEX, 0, kComplex, 1, MPI_C_DOUBLE_COMPLEX,
                 MPI_SUM, win);
  if (!is_plain("Open MPI"))
    MPI_Accumulate(&pair, 1, MPI_DOUBLE_INT, 0, kPair, 1, MPI_DOUBLE_INT, MPI_MAXLOC, win);
  /* Over the end of a line of the processor's, too. */
  MPI_Accumulate(odd, 3, MPI_INT64_T, 0, kOdd, 3, MPI_INT64_T, MPI_SUM, win);
  MPI_Accumulate(odd, 1, MPI_INT64_T, 0, kOdd + 56, 1, MPI_INT64_T, MPI_SUM, win);
  MPI_Win_flush_local(0, win);
}

static void check_others(int rounds) {
  const long double* wide = (long double*)(window.base + kLongDouble);
  const struct double_int* pair = (struct double_int*)(window.base + kPair);
  const double* parts = (double*)(window.base + kComplex);
  int64_t odd[8];
  lock_own(window.win, 0);
  memcpy(odd, window.base + kOdd, sizeof odd);
  for (int i = 0; i < 8; ++i) check_at("byte", i, rounds / 8 * ranks, window.base[i]);
  for (int i = 0; i < 4; ++i)
    check_at("short", i, rounds / 4 * ranks, ((int16_t*)(window.base + kShort))[i]);
  for (int i = 0; i < 2; ++i)
    check_at("int", i, rounds / 2 * ranks, ((int32_t*)(window.base + kInt))[i]);
  check_real("long double", 0, rounds * ranks, (double)*wide);
  check_real("real part", 0, rounds * ranks, parts[0]);
  check_real("imaginary part", 0, -rounds * ranks, parts[1]);
  if (!is_plain("Open MPI")) {
    check_real("greatest", 0, rounds * ranks, pair->value);
    check_equal("whose", ranks - 1, pair->index);
  }
  for (int i = 0; i < 3; ++i) check_at("unaligned", i, (long long)rounds * ranks * (i + 1), odd[i]);
  check_equal("unaligned, alone", (long long)rounds * ranks, odd[7]);
  unlock_own(window.win, 0);
}

static void other_elements(void) {
  enum { kOthers = 32 };
  for (int kind = 0; kind < kMemoryKinds; ++kind) {
    open_zeroed(kind, 256);
    MPI_Win_lock_all(0, window.win);
    for (int round = 0; round < kOthers; ++round) add_others(round);
    MPI_Win_unlock_all(window.win);
    meet();
    if (my_rank == 0) check_others(kOthers);
    meet();
    close_window(&window);
  }
}

/* Of unsigned elements the greatest is one that is negative as a signed one. */
static void unsigned_elements(void) {
  if (!is_ours) return; /* MPICH 4.0 and Open MPI 4.1 take some of them for signed ones */
  for (int kind = 0; kind < kMemoryKinds; ++kind) {
    const uint16_t two = (uint16_t)(60000 + my_rank);
    const uint32_t four = 4000000000u - (uint32_t)my_rank;
    const uint64_t eight = (uint64_t)1 << 63;
    open_zeroed(kind, 64);
    MPI_Win_fence(0, window.win);
    MPI_Accumulate(&two, 1, MPI_UINT16_T, 0, 0, 1, MPI_UINT16_T, MPI_MAX, window.win);
    MPI_Accumulate(&four, 1, MPI_UINT32_T, 0, 4, 1, MPI_UINT32_T, MPI_MAX, window.win);
    MPI_Accumulate(&eight, 1, MPI_UINT64_T, 0, 8, 1, MPI_UINT64_T, MPI_MAX, window.win);
    MPI_Accumulate(&eight, 1, MPI_UINT64_T, 0, 16, 1, MPI_UINT64_T, MPI_MIN, window.win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window.win);
    if (my_rank == 0) {
      check_equal("2 bytes", 60000 + ranks - 1, *(uint16_t*)window.base);
      check_equal("4 bytes", 4000000000u, ((uint32_t*)window.base)[1]);
      check_true("8 bytes", ((uint64_t*)window.base)[1] == eight);
      check_true("least of 8 bytes", ((uint64_t*)window.base)[2] == 0);
    }
    meet();
    close_window(&window);
  }
}

/* Two accumulates of one origin to one place happen in the order of their calls. */
static void order_of_calls(void) {
  for (int kind = 0; kind < kMemoryKinds; ++kind) {
    static int64_t values[kWords];
    const MPI_Aint size = kWords * 8;
    const int next = (my_rank + 1) % ranks;
    open_zeroed(kind, size);
    MPI_Win_lock(MPI_LOCK_SHARED, next, 0, window.win);
    for (int i = 0; i < kWords; ++i) values[i] = i;
    MPI_Accumulate(values, kWords, MPI_INT64_T, next, 0, kWords, MPI_INT64_T, MPI_REPLACE,
                   window.win);
    const int64_t last = -7;
    for (int i = 0; i < kWords; i += 64)
      MPI_Accumulate(&last, 1, MPI_INT64_T, next, i * 8, 1, MPI_INT64_T, MPI_REPLACE, window.win);
    MPI_Win_unlock(next, window.win);
    meet();
    lock_own(window.win, my_rank);
    for (int i = 0; i < kWords; ++i)
      check_at("word", i, i % 64 == 0 ? -7 : i, ((int64_t*)window.base)[i]);
    unlock_own(window.win, my_rank);
    meet();
    close_window(&window);
  }
}

int main(int argc, char** argv) {
  const struct test_case cases[] = {{"contiguous_and_derived", contiguous_and_derived},
                                    {"bulk_and_small", bulk_and_small},
                                    {"thread_and_origin", thread_and_origin},
                                    {"tickets", tickets},
                                    {"swaps", swaps},
                                    {"other_elements", other_elements},
                                    {"unsigned_elements", unsigned_elements},
                                    {"order_of_calls", order_of_calls},
                                    {NULL, NULL}};
  MPI_Init(&argc, &argv);
  return run_cases(argc, argv, cases);
}
