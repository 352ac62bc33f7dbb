/*
 * Calls that are wrong, under MPI_ERRORS_RETURN: each gives an error of its class, and changes
 * nothing. MPI promises no answer to most of them, so a plain one is asked only for what the plain
 * ones that we know find; with "ours" every call of this file is one that the library promises.
 */
#include "check.h"

enum { kInts = 64 };

static struct window window;
static int value = 4242;

static int* ints(void) { return (int*)window.base; }

static void open_filled(enum memory_kind kind) {
  window = (struct window){.kind = kind, .size = kInts * 4, .unit = 4};
  open_window(&window, MPI_COMM_WORLD, MPI_INFO_NULL);
  MPI_Win_set_errhandler(window.win, MPI_ERRORS_RETURN);
  lock_own(window.win, my_rank);
  for (int i = 0; i < kInts; ++i) ints()[i] = my_rank * 1000 + i;
  unlock_own(window.win, my_rank);
  meet();
}

static void close_unchanged(void) {
  meet();
  lock_own(window.win, my_rank);
  for (int i = 0; i < kInts; ++i) check_at("memory", i, my_rank * 1000 + i, ints()[i]);
  check_equal("the origin's buffer", 4242, value);
  unlock_own(window.win, my_rank);
  meet();
  close_window(&window);
}

/* An error of that class. */
static void expect(const char* what, int class, int code) {
  const int found = class_of(code);
  if (found == class) return;
  char words[MPI_MAX_ERROR_STRING] = "success";
  int length;
  if (code != MPI_SUCCESS) MPI_Error_string(code, words, &length);
  fail("%s: expected class %d, found %d: %s", what, class, found, words);
}

static void expect_success(const char* what, int code) { expect(what, MPI_SUCCESS, code); }

static int last(void) { return ranks - 1; }

static int put_at(MPI_Aint at, int count) {
  static int sent[8];
  return MPI_Put(sent, count, MPI_INT, last(), at, count, MPI_INT, window.win);
}

static void out_of_range(void) {
  int result = 4242;
  MPI_Win_lock(MPI_LOCK_SHARED, last(), 0, window.win);
  if (is_ours) {
    expect("put behind the end", MPI_ERR_RMA_RANGE, put_at(kInts, 1));
    expect("put over the end", MPI_ERR_RMA_RANGE, put_at(kInts - 1, 2));
    expect("put far behind", MPI_ERR_RMA_RANGE, put_at((MPI_Aint)1 << 61, 1));
    expect("get over the end", MPI_ERR_RMA_RANGE,
           MPI_Get(&result, 1, MPI_INT, last(), kInts, 1, MPI_INT, window.win));
    expect("accumulate over the end", MPI_ERR_RMA_RANGE,
           MPI_Accumulate(&value, 1, MPI_INT, last(), kInts, 1, MPI_INT, MPI_SUM, window.win));
    expect("fetch over the end", MPI_ERR_RMA_RANGE,
           MPI_Fetch_and_op(&value, &result, MPI_INT, last(), kInts, MPI_SUM, window.win));
    expect("swap over the end", MPI_ERR_RMA_RANGE,
           MPI_Compare_and_swap(&value, &value, &result, MPI_INT, last(), kInts, window.win));
    const int class = class_of(put_at(-1, 1));
    if (class != MPI_ERR_DISP && class != MPI_ERR_RMA_RANGE)
      fail("negative displacement: expected MPI_ERR_DISP, found class %d", class);
  }
  expect("target behind the last rank", MPI_ERR_RANK,
         MPI_Put(&value, 1, MPI_INT, ranks, 0, 1, MPI_INT, window.win));
  expect("negative count", MPI_ERR_COUNT,
         MPI_Put(&value, -1, MPI_INT, last(), 0, 1, MPI_INT, window.win));
  expect("no type", MPI_ERR_TYPE,
         MPI_Put(&value, 1, MPI_DATATYPE_NULL, last(), 0, 1, MPI_INT, window.win));
  check_equal("what nothing was fetched to", 4242, result);
  /* The epoch goes on. */
  expect_success("a right get", MPI_Get(&result, 1, MPI_INT, last(), 5, 1, MPI_INT, window.win));
  expect_success("unlock", MPI_Win_unlock(last(), window.win));
  check_equal("got", last() * 1000 + 5, result);
}

static void outside_epochs(void) {
  const MPI_Win win = window.win;
  int result = 4242;
  MPI_Request request;
  const int class = MPI_ERR_RMA_SYNC;
  expect("put", class, put_at(0, 1));
  expect("get", class, MPI_Get(&result, 1, MPI_INT, last(), 0, 1, MPI_INT, win));
  expect("accumulate", class,
         MPI_Accumulate(&value, 1, MPI_INT, last(), 0, 1, MPI_INT, MPI_SUM, win));
  expect("fetch", class, MPI_Fetch_and_op(&value, &result, MPI_INT, last(), 0, MPI_SUM, win));
  expect("swap", class, MPI_Compare_and_swap(&value, &value, &result, MPI_INT, last(), 0, win));
  expect("rput", class, MPI_Rput(&value, 1, MPI_INT, last(), 0, 1, MPI_INT, win, &request));
  expect("flush", class, MPI_Win_flush(last(), win));
  expect("flush_all", class, MPI_Win_flush_all(win));
  expect("flush_local", class, MPI_Win_flush_local(last(), win));
  check_equal("what nothing was fetched to", 4242, result);
  /* In an epoch, but none of this target's. */
  if (is_plain("MPICH")) return; /* 4.0 puts all the same */
  const int other = (my_rank + 1) % ranks;
  MPI_Win_lock(MPI_LOCK_SHARED, my_rank, 0, win);
  expect("put to a target that is not locked", class,
         MPI_Put(&value, 1, MPI_INT, other, 0, 1, MPI_INT, win));
  MPI_Win_unlock(my_rank, win);
  if (!is_ours) return;
  MPI_Win_fence(0, win);
  expect("rput in a fence epoch", class,
         MPI_Rput(&value, 1, MPI_INT, last(), 0, 1, MPI_INT, win, &request));
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
}

static void wrong_locks(void) {
  const MPI_Win win = window.win;
  const int class = MPI_ERR_RMA_SYNC;
  expect("unlock without lock", class, MPI_Win_unlock(last(), win));
  expect("unlock_all without lock_all", class, MPI_Win_unlock_all(win));
  expect("lock of a rank behind the last", MPI_ERR_RANK,
         MPI_Win_lock(MPI_LOCK_SHARED, ranks, 0, win));
  expect("lock of a negative rank", MPI_ERR_RANK, MPI_Win_lock(MPI_LOCK_SHARED, -77, 0, win));
  if (!is_ours) return; /* MPICH 4.0 has another class; Open MPI 4.1 finds none of these */
  expect("lock of no kind", MPI_ERR_LOCKTYPE, MPI_Win_lock(12345, last(), 0, win));
  expect_success("lock", MPI_Win_lock(MPI_LOCK_SHARED, my_rank, 0, win));
  expect("a second lock", class, MPI_Win_lock(MPI_LOCK_SHARED, my_rank, 0, win));
  expect("lock_all beside a lock", class, MPI_Win_lock_all(0, win));
  expect("fence beside a lock", class, MPI_Win_fence(0, win));
  expect("unlock_all of a lock", class, MPI_Win_unlock_all(win));
  expect_success("unlock", MPI_Win_unlock(my_rank, win));
  expect("a second unlock", class, MPI_Win_unlock(my_rank, win));
  expect_success("lock_all", MPI_Win_lock_all(0, win));
  expect("a second lock_all", class, MPI_Win_lock_all(0, win));
  expect("lock in lock_all", class, MPI_Win_lock(MPI_LOCK_SHARED, my_rank, 0, win));
  expect("unlock in lock_all", class, MPI_Win_unlock(my_rank, win));
  expect_success("unlock_all", MPI_Win_unlock_all(win));
}

static void wrong_posts(void) {
  const MPI_Win win = window.win;
  const int class = MPI_ERR_RMA_SYNC;
  MPI_Group all, nobody = MPI_GROUP_EMPTY;
  int is_over = 0;
  if (is_plain("Open MPI")) return; /* 4.1 finds none of these */
  expect("complete without start", class, MPI_Win_complete(win));
  expect("wait without post", class, MPI_Win_wait(win));
  expect("test without post", class, MPI_Win_test(win, &is_over));
  MPI_Win_get_group(win, &all);
  expect_success("post", MPI_Win_post(all, 0, win));
  expect("a second post", class, MPI_Win_post(all, 0, win));
  expect_success("start", MPI_Win_start(all, 0, win));
  expect("a second start", class, MPI_Win_start(all, 0, win));
  if (is_ours) {
    expect("lock in start", class, MPI_Win_lock(MPI_LOCK_SHARED, my_rank, 0, win));
    expect("fence in start", class, MPI_Win_fence(0, win));
  }
  expect_success("complete", MPI_Win_complete(win));
  expect("a second complete", class, MPI_Win_complete(win));
  expect_success("wait", MPI_Win_wait(win));
  MPI_Group_free(&all);
  /* A group of nobody waits for nobody. */
  expect_success("start of nobody", MPI_Win_start(nobody, 0, win));
  if (is_ours)
    expect("put to a target that is not started", class,
           MPI_Put(&value, 1, MPI_INT, my_rank, 0, 1, MPI_INT, win));
  expect_success("complete of nobody", MPI_Win_complete(win));
}

static void user_op(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)in;
  (void)inout;
  (void)count;
  (void)type;
}

static void wrong_ops(void) {
  const MPI_Win win = window.win;
  int result = 4242;
  int pair[2] = {1, 2};
  double real = 1;
  MPI_Op op;
  MPI_Op_create(user_op, 1, &op);
  MPI_Win_lock(MPI_LOCK_SHARED, last(), 0, win);
  expect("MPI_OP_NULL", MPI_ERR_OP,
         MPI_Accumulate(&value, 1, MPI_INT, last(), 0, 1, MPI_INT, MPI_OP_NULL, win));
  if (is_ours) {
    expect("MPI_MINLOC of int", MPI_ERR_OP,
           MPI_Accumulate(&value, 1, MPI_INT, last(), 0, 1, MPI_INT, MPI_MINLOC, win));
    expect("MPI_BAND of double", MPI_ERR_OP,
           MPI_Accumulate(&real, 1, MPI_DOUBLE, last(), 0, 1, MPI_DOUBLE, MPI_BAND, win));
    expect("MPI_SUM of a pair", MPI_ERR_OP,
           MPI_Accumulate(pair, 1, MPI_2INT, last(), 0, 1, MPI_2INT, MPI_SUM, win));
    expect("MPI_NO_OP of an accumulate", MPI_ERR_OP,
           MPI_Accumulate(&value, 1, MPI_INT, last(), 0, 1, MPI_INT, MPI_NO_OP, win));
    const int class =
        class_of(MPI_Compare_and_swap(&real, &real, &real, MPI_DOUBLE, last(), 0, win));
    if (class != MPI_ERR_TYPE && class != MPI_ERR_ARG)
      fail("swap of doubles: expected MPI_ERR_TYPE, found class %d", class);
  }
  check_equal("what nothing was fetched to", 4242, result);
  expect_success("unlock", MPI_Win_unlock(last(), win));
  MPI_Op_free(&op);
}

static void wrong_asserts(void) {
  const MPI_Win win = window.win;
  const int class = MPI_ERR_ASSERT, bad = 1 << 29;
  MPI_Group all;
  if (is_plain("MPICH")) return; /* 4.0 has another class */
  MPI_Win_get_group(win, &all);
  expect("lock", class, MPI_Win_lock(MPI_LOCK_SHARED, last(), bad, win));
  expect("lock_all", class, MPI_Win_lock_all(bad, win));
  expect("fence", class, MPI_Win_fence(bad, win));
  expect("post", class, MPI_Win_post(all, bad, win));
  expect("start", class, MPI_Win_start(all, bad, win));
  MPI_Group_free(&all);
}

static void null_window(void) {
  const MPI_Win win = MPI_WIN_NULL;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  /* MPI 4 raises errors that belong to no object on MPI_COMM_SELF. */
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  expect("put", MPI_ERR_WIN, MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
  expect("accumulate", MPI_ERR_WIN,
         MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win));
  expect("lock", MPI_ERR_WIN, MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
  expect("fence", MPI_ERR_WIN, MPI_Win_fence(0, win));
  expect("flush", MPI_ERR_WIN, MPI_Win_flush(0, win));
  MPI_Win freed = win;
  expect("free", MPI_ERR_WIN, MPI_Win_free(&freed));
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

static void on_memories(void (*body)(void)) {
  for (int kind = 0; kind <= kMalloc; ++kind) {
    at_step("on %s", kMemoryNames[kind]);
    open_filled((enum memory_kind)kind);
    body();
    close_unchanged();
  }
}

static void run_range(void) { on_memories(out_of_range); }
static void run_outside(void) { on_memories(outside_epochs); }
static void run_locks(void) { on_memories(wrong_locks); }
static void run_posts(void) { on_memories(wrong_posts); }
static void run_ops(void) { on_memories(wrong_ops); }
static void run_asserts(void) { on_memories(wrong_asserts); }

int main(int argc, char** argv) {
  const struct test_case cases[] = {{"out_of_range", run_range},  {"outside_epochs", run_outside},
                                    {"wrong_locks", run_locks},   {"wrong_posts", run_posts},
                                    {"wrong_ops", run_ops},       {"wrong_asserts", run_asserts},
                                    {"null_window", null_window}, {NULL, NULL}};
  MPI_Init(&argc, &argv);
  return run_cases(argc, argv, cases);
}
