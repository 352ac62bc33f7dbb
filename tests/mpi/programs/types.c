/*
 * Datatypes at both sides. Every rank works on the memory of the next one, which looks at it
 * afterwards.
 */
#include "check.h"

enum { kLongs = 4096, kBytes = kLongs * 8 };

static struct window window;

static long long* longs(void) { return (long long*)window.base; }
static int next_rank(void) { return (my_rank + 1) % ranks; }
static int previous_rank(void) { return (my_rank + ranks - 1) % ranks; }

/* Memory of rank r: long i is r * 10000 + i. */
static void open_filled(enum memory_kind kind, int unit) {
  window = (struct window){.kind = kind, .unit = unit, .size = kBytes};
  open_window(&window, MPI_COMM_WORLD, MPI_INFO_NULL);
  lock_own(window.win, my_rank);
  for (int i = 0; i < kLongs; ++i) longs()[i] = my_rank * 10000 + i;
  unlock_own(window.win, my_rank);
  meet();
}

static void begin(void) { MPI_Win_lock(MPI_LOCK_SHARED, next_rank(), 0, window.win); }
/* What was done to this rank's memory is over behind it. */
static void end(void) {
  MPI_Win_unlock(next_rank(), window.win);
  meet();
}

static void check_long(long index, long long expected) {
  check_at("memory", index, expected, longs()[index]);
}
static long long untouched(long index) { return my_rank * 10000 + index; }

static void check_untouched(long from, long to) {
  for (long i = from; i < to; ++i) check_long(i, untouched(i));
}

/* `body` on each kind of memory. */
static void on_each_memory(void (*body)(void)) {
  for (int kind = 0; kind < kMemoryKinds; ++kind) {
    at_step("on %s", kMemoryNames[kind]);
    open_filled((enum memory_kind)kind, 8);
    body();
    close_window(&window);
  }
}

static MPI_Datatype every_second(int count) {
  MPI_Datatype type;
  MPI_Type_vector(count, 1, 2, MPI_LONG_LONG, &type);
  MPI_Type_commit(&type);
  return type;
}

static void freed_right_after(void) {
  long long put[32], added[16], got[32];
  for (int i = 0; i < 32; ++i) put[i] = 100 + i, got[i] = -1;
  for (int i = 0; i < 16; ++i) added[i] = i + 1;
  begin();
  MPI_Datatype a = every_second(16), b = every_second(16);
  MPI_Put(put, 1, a, next_rank(), 0, 1, b, window.win);
  MPI_Type_free(&a);
  MPI_Type_free(&b);
  a = every_second(16);
  MPI_Accumulate(added, 16, MPI_LONG_LONG, next_rank(), 100, 1, a, MPI_SUM, window.win);
  MPI_Type_free(&a);
  a = every_second(16);
  b = every_second(16);
  MPI_Get(got, 1, b, next_rank(), 200, 1, a, window.win);
  MPI_Type_free(&b);
  MPI_Type_free(&a);
  /* Another type may get the handle or the place of the freed one. */
  MPI_Type_contiguous(3, MPI_INT, &a);
  MPI_Type_commit(&a);
  end();
  MPI_Type_free(&a);
  lock_own(window.win, my_rank);
  for (int i = 0; i < 32; ++i) check_long(i, i % 2 == 0 ? 100 + i : untouched(i));
  for (int i = 0; i < 32; ++i)
    check_long(100 + i, untouched(100 + i) + (i % 2 == 0 && i < 32 ? i / 2 + 1 : 0));
  unlock_own(window.win, my_rank);
  for (int i = 0; i < 31; ++i)
    check_at("got", i, i % 2 == 0 ? next_rank() * 10000 + 200 + i : -1, got[i]);
}

/* Absolute addresses of two variables of their own at the origin. */
static MPI_Datatype absolute_type(const void* first, const void* second, int count) {
  MPI_Datatype type;
  MPI_Aint places[2];
  const int lengths[2] = {count, 1};
  const MPI_Datatype types[2] = {MPI_LONG_LONG, MPI_LONG_LONG};
  MPI_Get_address(first, &places[0]);
  MPI_Get_address(second, &places[1]);
  MPI_Type_create_struct(2, lengths, places, types, &type);
  MPI_Type_commit(&type);
  return type;
}

static void bottom_absolute(void) {
  long long first[3] = {1, 2, 3}, second = 4, got[3] = {0}, last = 0, result[3] = {0}, end_of = 0;
  MPI_Datatype sent = absolute_type(first, &second, 3);
  MPI_Datatype received = absolute_type(got, &last, 3);
  MPI_Datatype fetched = absolute_type(result, &end_of, 3);
  begin();
  MPI_Put(MPI_BOTTOM, 1, sent, next_rank(), 10, 4, MPI_LONG_LONG, window.win);
  MPI_Accumulate(MPI_BOTTOM, 1, sent, next_rank(), 20, 4, MPI_LONG_LONG, MPI_SUM, window.win);
  MPI_Get(MPI_BOTTOM, 1, received, next_rank(), 30, 4, MPI_LONG_LONG, window.win);
  /* Open MPI 4.1 fetches something else. */
  const int can_fetch = !is_plain("Open MPI");
  if (can_fetch)
    MPI_Get_accumulate(MPI_BOTTOM, 1, sent, MPI_BOTTOM, 1, fetched, next_rank(), 40, 4,
                       MPI_LONG_LONG, MPI_REPLACE, window.win);
  end();
  MPI_Type_free(&sent);
  MPI_Type_free(&received);
  MPI_Type_free(&fetched);
  lock_own(window.win, my_rank);
  for (int i = 0; i < 4; ++i) {
    check_long(10 + i, i + 1);
    check_long(20 + i, untouched(20 + i) + i + 1);
    if (can_fetch) check_long(40 + i, i + 1);
    check_at("got", i, next_rank() * 10000 + 30 + i, i < 3 ? got[i] : last);
    if (!can_fetch) continue;
    check_at("fetched", i, next_rank() * 10000 + 40 + i, i < 3 ? result[i] : end_of);
  }
  check_untouched(44, 60);
  unlock_own(window.win, my_rank);
}

/* Elements before the address that a call names, at either side, and a lower bound below it. */
static void negative_lower_bound(void) {
  long long sent[8], got[8];
  MPI_Datatype backward, resized;
  const int places[3] = {-3, -1, 1};
  for (int i = 0; i < 8; ++i) sent[i] = 500 + i, got[i] = -1;
  MPI_Type_create_indexed_block(3, 1, places, MPI_LONG_LONG, &backward);
  MPI_Type_create_resized(backward, -32, 64, &resized);
  MPI_Type_commit(&backward);
  MPI_Type_commit(&resized);
  begin();
  MPI_Put(sent + 4, 1, backward, next_rank(), 20, 1, backward, window.win);
  MPI_Accumulate(sent + 4, 1, backward, next_rank(), 40, 1, resized, MPI_SUM, window.win);
  /* Two of them: the second begins 8 elements behind the first. */
  MPI_Put(sent, 6, MPI_LONG_LONG, next_rank(), 60, 2, resized, window.win);
  MPI_Get(got + 4, 1, resized, next_rank(), 80, 3, MPI_LONG_LONG, window.win);
  end();
  MPI_Type_free(&backward);
  MPI_Type_free(&resized);
  lock_own(window.win, my_rank);
  for (int i = 0; i < 3; ++i) {
    check_long(20 + places[i], 500 + 4 + places[i]);
    check_long(40 + places[i], untouched(40 + places[i]) + 504 + places[i]);
    check_long(60 + places[i], 500 + i);
    check_long(68 + places[i], 503 + i);
    check_at("got", i, next_rank() * 10000 + 80 + i, got[4 + places[i]]);
  }
  check_untouched(0, 17);
  check_long(18, untouched(18));
  check_long(22, untouched(22));
  check_equal("beside what was got", -1, got[4]);
  unlock_own(window.win, my_rank);
}

struct short_int {
  short value;
  int index;
};
struct double_int {
  double value;
  int index;
};

/* The bytes between the members of a pair, and behind the last one, belong to nobody. */
static void pair_holes(void) {
  struct short_int shorts[4];
  struct double_int doubles[4];
  unsigned char before[sizeof doubles];
  memset(shorts, 0x11, sizeof shorts);
  memset(doubles, 0x11, sizeof doubles);
  for (int i = 0; i < 4; ++i) {
    shorts[i].value = (short)(i == 2 ? -5 : 7);
    shorts[i].index = my_rank;
    doubles[i].value = i == 2 ? -5.0 : 7.0;
    doubles[i].index = my_rank;
  }
  struct short_int* found_shorts = (struct short_int*)window.base;
  struct double_int* found_doubles = (struct double_int*)(window.base + 1024);
  lock_own(window.win, my_rank);
  memset(window.base, 0, 2048);
  memset(before, 0, sizeof before);
  unlock_own(window.win, my_rank);
  meet();
  begin();
  MPI_Put(shorts, 4, MPI_SHORT_INT, next_rank(), 0, 4, MPI_SHORT_INT, window.win);
  /* Open MPI 4.1 writes elsewhere. */
  const int can_accumulate = !is_plain("Open MPI");
  if (can_accumulate)
    MPI_Accumulate(doubles, 4, MPI_DOUBLE_INT, next_rank(), 128, 4, MPI_DOUBLE_INT, MPI_MAXLOC,
                   window.win);
  end();
  lock_own(window.win, my_rank);
  for (int i = 0; i < 4; ++i) {
    const unsigned char* hole = (unsigned char*)&found_shorts[i] + sizeof(short);
    check_at("short", i, i == 2 ? -5 : 7, found_shorts[i].value);
    check_at("index of a short", i, previous_rank(), found_shorts[i].index);
    if (is_ours) check_bytes("hole of a put", before, hole, sizeof(int) - sizeof(short));
    if (!can_accumulate) continue;
    /* Before there was 0 with index 0. */
    check_real("double", i, i == 2 ? 0 : 7, found_doubles[i].value);
    check_at("index of a double", i, i == 2 ? 0 : previous_rank(), found_doubles[i].index);
    hole = (unsigned char*)&found_doubles[i].index + sizeof(int);
    if (is_ours) check_bytes("hole of an accumulate", before, hole, sizeof(int));
  }
  unlock_own(window.win, my_rank);
}

static void zero_size(void) {
  MPI_Datatype empty, of_empty, wide;
  MPI_Type_contiguous(0, MPI_LONG_LONG, &empty);
  MPI_Type_vector(5, 1, 3, empty, &of_empty);
  MPI_Type_create_resized(empty, 0, 64, &wide);
  MPI_Datatype types[3] = {empty, of_empty, wide};
  for (int i = 0; i < 3; ++i) MPI_Type_commit(&types[i]);
  begin();
  for (int i = 0; i < 3; ++i)
    for (int count = 0; count <= 1000000; count += 500000) {
      /* An extent that leaves the window is no error where there is nothing to touch. */
      const int there = i == 2 ? 2 : count;
      MPI_Put(NULL, count, types[i], next_rank(), 0, there, types[i], window.win);
      MPI_Get(NULL, count, types[i], next_rank(), 0, there, types[i], window.win);
    }
  MPI_Accumulate(NULL, 0, MPI_LONG_LONG, next_rank(), 0, 0, MPI_LONG_LONG, MPI_SUM, window.win);
  for (int i = 0; i < 3; ++i)
    MPI_Accumulate(NULL, 2, types[i], next_rank(), 0, 2, types[i], MPI_SUM, window.win);
  end();
  for (int i = 0; i < 3; ++i) MPI_Type_free(&types[i]);
  lock_own(window.win, my_rank);
  check_untouched(0, kLongs);
  unlock_own(window.win, my_rank);
}

static void nested_contiguous(void) {
  MPI_Datatype type, deeper;
  static long long sent[2048], fetched[1024];
  MPI_Type_contiguous(1, MPI_LONG_LONG, &type);
  for (int depth = 0; depth < 9; ++depth) { /* 2^9 elements */
    MPI_Type_contiguous(2, type, &deeper);
    MPI_Type_free(&type);
    if (depth % 3 == 0)
      MPI_Type_dup(deeper, &type);
    else
      MPI_Type_vector(1, 1, 1, deeper, &type);
    MPI_Type_free(&deeper);
  }
  MPI_Type_commit(&type);
  for (int i = 0; i < 2048; ++i) sent[i] = 3 * i;
  begin();
  MPI_Put(sent, 2, type, next_rank(), 0, 2, type, window.win);
  MPI_Accumulate(sent + 1024, 1, type, next_rank(), 1024, 512, MPI_LONG_LONG, MPI_SUM, window.win);
  MPI_Get_accumulate(sent, 2, type, fetched, 1024, MPI_LONG_LONG, next_rank(), 2048, 2, type,
                     MPI_SUM, window.win);
  end();
  MPI_Type_free(&type);
  lock_own(window.win, my_rank);
  for (int i = 0; i < 1024; ++i) {
    check_long(i, 3 * i);
    check_long(1024 + i, untouched(1024 + i) + (i < 512 ? 3 * (1024 + i) : 0));
    check_long(2048 + i, untouched(2048 + i) + 3 * i);
    check_at("fetched", i, next_rank() * 10000 + 2048 + i, fetched[i]);
  }
  unlock_own(window.win, my_rank);
}

static void run_freed(void) { on_each_memory(freed_right_after); }
static void run_bottom(void) { on_each_memory(bottom_absolute); }
static void run_negative(void) { on_each_memory(negative_lower_bound); }
static void run_holes(void) { on_each_memory(pair_holes); }
static void run_zero(void) { on_each_memory(zero_size); }
static void run_nested(void) { on_each_memory(nested_contiguous); }

int main(int argc, char** argv) {
  const struct test_case cases[] = {{"freed_right_after", run_freed},
                                    {"bottom_absolute", run_bottom},
                                    {"negative_lower_bound", run_negative},
                                    {"pair_holes", run_holes},
                                    {"zero_size", run_zero},
                                    {"nested_contiguous", run_nested},
                                    {NULL, NULL}};
  MPI_Init(&argc, &argv);
  return run_cases(argc, argv, cases);
}
