/*
 * Every operation in every kind of epoch on every kind of memory, from every rank to every rank,
 * itself among them, and to MPI_PROC_NULL. Units and sizes differ from rank to rank.
 */
#include "matrix_acts.h"

/* With requests only in passive epochs. */
struct sync {
  const char* name;
  int is_passive;
  int mode;
  void (*epoch)(const struct sync*, struct window*);
};

static int unit_of(int rank) { return 1 << rank % 4; }

static MPI_Aint displacement(int target, long place) {
  return (MPI_Aint)place * (MPI_Aint)sizeof(element) / unit_of(target);
}

static void wait_for(int target, int index) {
  if (acts[index].is_request) MPI_Wait(&traffic.requests[target][index], MPI_STATUS_IGNORE);
}

/* Nothing of it may change anything. */
static void issue_nothing(int target, MPI_Win win) {
  const MPI_Aint at = displacement(target, 0);
  MPI_Put(NULL, 0, MPI_INT, target, at, 0, MPI_INT, win);
  MPI_Get(NULL, 0, MPI_INT, target, at, 0, MPI_INT, win);
  MPI_Accumulate(NULL, 0, MPI_INT, target, at, 0, MPI_INT, MPI_SUM, win);
  MPI_Get_accumulate(NULL, 0, MPI_INT, NULL, 0, MPI_INT, target, at, 0, MPI_INT, MPI_SUM, win);
}

/* All acts at one target, and one sum that all origins add to. Half of the requests are waited for
 * at once, the others when the epoch is over. */
static void issue_all(const struct sync* sync, int target, MPI_Win win) {
  for (int act = 0; act < acts_count; ++act) {
    if (acts[act].is_request && !sync->is_passive) continue;
    issue_act(act, target, displacement(target, place_of(my_rank, act)), win);
    if (act % 2 == 0) wait_for(target, act);
    issue_act(act, MPI_PROC_NULL, 0, win);
  }
  MPI_Accumulate(traffic.ones, kCount, MPI_LONG_LONG, target, displacement(target, shared_place()),
                 kCount, MPI_LONG_LONG, MPI_SUM, win);
  issue_nothing(target, win);
}

/* Requests that nobody has waited for yet: what they stand for is complete. */
static void wait_for_rest(int target) {
  for (int act = 0; act < acts_count; ++act) wait_for(target, act);
}

static void fence_epoch(const struct sync* sync, struct window* window) {
  const int ends[3] = {0, MPI_MODE_NOSUCCEED,
                       MPI_MODE_NOSUCCEED | MPI_MODE_NOSTORE | MPI_MODE_NOPUT};
  MPI_Win_fence(sync->mode > 0 ? MPI_MODE_NOPRECEDE : 0, window->win);
  for (int target = 0; target < ranks; ++target) issue_all(sync, target, window->win);
  MPI_Win_fence(ends[sync->mode], window->win);
  /* Only this ends the epoch that a fence without an assertion begins. */
  if (sync->mode == 0) MPI_Win_fence(MPI_MODE_NOSUCCEED, window->win);
}

static void post_epoch(const struct sync* sync, struct window* window) {
  MPI_Group group;
  int is_over = 0;
  const int is_unchecked = sync->mode == MPI_MODE_NOCHECK;
  MPI_Win_get_group(window->win, &group);
  MPI_Win_post(group, is_unchecked ? MPI_MODE_NOCHECK | MPI_MODE_NOSTORE : 0, window->win);
  if (is_unchecked) meet();
  MPI_Win_start(group, is_unchecked ? MPI_MODE_NOCHECK : 0, window->win);
  for (int target = 0; target < ranks; ++target) issue_all(sync, target, window->win);
  MPI_Win_complete(window->win);
  if (sync->mode == 1)
    while (!is_over) MPI_Win_test(window->win, &is_over);
  else
    MPI_Win_wait(window->win);
  MPI_Group_free(&group);
}

static void exclusive_epoch(const struct sync* sync, struct window* window) {
  for (int i = 0; i < ranks; ++i) {
    const int target = (my_rank + i) % ranks;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, sync->mode, window->win);
    issue_all(sync, target, window->win);
    MPI_Win_unlock(target, window->win);
    wait_for_rest(target);
  }
}

/* An epoch for each operation. */
static void single_epochs(const struct sync* sync, struct window* window) {
  for (int target = 0; target < ranks; ++target) {
    const MPI_Aint at = displacement(target, shared_place());
    for (int act = 0; act < acts_count; ++act) {
      MPI_Win_lock(sync->mode, target, 0, window->win);
      issue_act(act, target, displacement(target, place_of(my_rank, act)), window->win);
      MPI_Win_unlock(target, window->win);
      wait_for(target, act);
    }
    MPI_Win_lock(sync->mode, target, 0, window->win);
    MPI_Accumulate(traffic.ones, kCount, MPI_LONG_LONG, target, at, kCount, MPI_LONG_LONG, MPI_SUM,
                   window->win);
    MPI_Win_unlock(target, window->win);
  }
}

static void shared_epoch(const struct sync* sync, struct window* window) {
  for (int target = 0; target < ranks; ++target)
    MPI_Win_lock(MPI_LOCK_SHARED, target, sync->mode, window->win);
  for (int target = 0; target < ranks; ++target) issue_all(sync, target, window->win);
  for (int target = 0; target < ranks; ++target) MPI_Win_unlock(target, window->win);
  for (int target = 0; target < ranks; ++target) wait_for_rest(target);
}

enum { kNoFlush, kFlush, kFlushAll, kFlushLocal, kFlushLocalAll, kUnchecked };

static void all_epoch(const struct sync* sync, struct window* window) {
  MPI_Win_lock_all(sync->mode == kUnchecked ? MPI_MODE_NOCHECK : 0, window->win);
  for (int target = 0; target < ranks; ++target) {
    issue_all(sync, target, window->win);
    if (sync->mode == kFlush) MPI_Win_flush(target, window->win);
    if (sync->mode == kFlushLocal) MPI_Win_flush_local(target, window->win);
  }
  if (sync->mode == kFlushAll) MPI_Win_flush_all(window->win);
  if (sync->mode == kFlushLocalAll) MPI_Win_flush_local_all(window->win);
  MPI_Win_sync(window->win);
  for (int target = 0; target < ranks; ++target) wait_for_rest(target);
  if (sync->mode != kNoFlush && sync->mode != kUnchecked) {
    check_fetched(); /* it is here before the epoch ends */
    memset(traffic.ones, 0, sizeof traffic.ones);
    for (int i = 0; i < kCount; ++i) traffic.ones[i] = 1;
  }
  MPI_Win_unlock_all(window->win);
}

static const struct sync kFences[] = {{"fence", 0, 0, fence_epoch},
                                      {"fence, some asserts", 0, 1, fence_epoch},
                                      {"fence, all asserts", 0, 2, fence_epoch}};
static const struct sync kPosts[] = {{"wait", 0, 0, post_epoch},
                                     {"test", 0, 1, post_epoch},
                                     {"no check", 0, MPI_MODE_NOCHECK, post_epoch}};
static const struct sync kLocks[] = {{"exclusive", 1, 0, exclusive_epoch},
                                     {"exclusive for each", 1, MPI_LOCK_EXCLUSIVE, single_epochs},
                                     {"shared for each", 1, MPI_LOCK_SHARED, single_epochs},
                                     {"shared", 1, 0, shared_epoch},
                                     {"shared, no check", 1, MPI_MODE_NOCHECK, shared_epoch}};
static const struct sync kAlls[] = {{"lock_all", 1, kNoFlush, all_epoch},
                                    {"flush", 1, kFlush, all_epoch},
                                    {"flush_all", 1, kFlushAll, all_epoch},
                                    {"flush_local", 1, kFlushLocal, all_epoch},
                                    {"flush_local_all", 1, kFlushLocalAll, all_epoch},
                                    {"lock_all, no check", 1, kUnchecked, all_epoch}};

static void fill_window(struct window* window) {
  element* memory = (element*)window->base;
  lock_own(window->win, my_rank);
  memset(window->base, 0x5a, (size_t)window->size);
  for (int origin = 0; origin < ranks; ++origin)
    for (int act = 0; act < kMostActs; ++act)
      for (int i = 0; i < kCount; ++i)
        memory[place_of(origin, act) + i] = initial(my_rank, origin, act, i);
  for (int i = 0; i < kCount; ++i) memory[shared_place() + i] = i;
  unlock_own(window->win, my_rank);
}

static void check_window(const struct sync* sync, struct window* window) {
  const element* memory = (const element*)window->base;
  lock_own(window->win, my_rank);
  for (int origin = 0; origin < ranks; ++origin)
    for (int act = 0; act < kMostActs; ++act)
      for (int i = 0; i < kCount; ++i) {
        const int is_issued = act < acts_count && (sync->is_passive || !acts[act].is_request);
        const element expected =
            is_issued ? expected_after(my_rank, origin, act, i) : initial(my_rank, origin, act, i);
        const element found = memory[place_of(origin, act) + i];
        if (found != expected)
          fail("act %d (verb %d, op %d) of %d, element %d: expected %lld, found %lld", act,
               act < acts_count ? (int)acts[act].verb : -1, acts[act % kMostActs].reduction, origin,
               i, expected, found);
      }
  for (int i = 0; i < kCount; ++i) check_at("shared", i, i + ranks, memory[shared_place() + i]);
  for (MPI_Aint i = places_count() * (long)sizeof(element); i < window->size; ++i)
    check_at("behind", i, 0x5a, window->base[i]);
  unlock_own(window->win, my_rank);
}

/* Acts with requests that an active epoch leaves out have fetched nothing. */
static void run_sync(const struct sync* sync, struct window* window) {
  at_step("%s on %s", sync->name, kMemoryNames[window->kind]);
  fill_traffic();
  fill_window(window);
  meet();
  sync->epoch(sync, window);
  if (!sync->is_passive)
    for (int target = 0; target < ranks; ++target)
      for (int act = 0; act < acts_count; ++act)
        for (int i = 0; i < kCount && acts[act].is_request && acts[act].verb != kPut; ++i)
          if (acts[act].verb != kAccumulate)
            traffic.fetched[target][act][i] = initial(target, my_rank, act, i);
  check_fetched();
  meet();
  check_window(sync, window);
  meet();
}

static void run_syncs(const struct sync* syncs, size_t count) {
  list_acts();
  for (int kind = 0; kind < kMemoryKinds; ++kind) {
    struct window window = {.kind = (enum memory_kind)kind, .unit = unit_of(my_rank)};
    window.size = places_count() * (long)sizeof(element) + my_rank * 8;
    open_window(&window, MPI_COMM_WORLD, MPI_INFO_NULL);
    for (size_t i = 0; i < count; ++i) run_sync(&syncs[i], &window);
    close_window(&window);
  }
}

static void run_fences(void) { run_syncs(kFences, sizeof kFences / sizeof *kFences); }
static void run_posts(void) { run_syncs(kPosts, sizeof kPosts / sizeof *kPosts); }
static void run_locks(void) { run_syncs(kLocks, sizeof kLocks / sizeof *kLocks); }
static void run_alls(void) { run_syncs(kAlls, sizeof kAlls / sizeof *kAlls); }

/* All kinds of epochs one after the other on a window whose memory is on a stack. */
static void run_stack(void) {
  element memory[(kMostRanks * kMostActs + 1) * kCount];
  struct window window = {.kind = kMalloc, .unit = unit_of(my_rank)};
  list_acts();
  window.base = (unsigned char*)memory;
  window.size = places_count() * (long)sizeof(element);
  MPI_Win_create(window.base, window.size, window.unit, MPI_INFO_NULL, MPI_COMM_WORLD, &window.win);
  for (size_t i = 0; i < sizeof kFences / sizeof *kFences; ++i) {
    run_sync(&kAlls[i], &window);
    run_sync(&kFences[i], &window);
    run_sync(&kLocks[i], &window);
    run_sync(&kPosts[i], &window);
  }
  MPI_Win_free(&window.win);
}

int main(int argc, char** argv) {
  const struct test_case cases[] = {{"fence", run_fences}, {"post", run_posts},
                                    {"lock", run_locks},   {"all", run_alls},
                                    {"stack", run_stack},  {NULL, NULL}};
  MPI_Init(&argc, &argv);
  return run_cases(argc, argv, cases);
}
