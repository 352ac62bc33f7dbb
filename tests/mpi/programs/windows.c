/*
 * Windows themselves: what can be asked of them, and memory and ranks of unusual sizes.
 */
#include "check.h"

static long attribute(MPI_Win win, int keyval) {
  int* value;
  int is_there = 0;
  MPI_Win_get_attr(win, keyval, &value, &is_there);
  check_true("a predefined attribute is there", is_there);
  return *value;
}

static void check_attributes(const struct window* window, int flavour) {
  void* base;
  MPI_Aint* size;
  int is_there = 0;
  MPI_Win_get_attr(window->win, MPI_WIN_BASE, &base, &is_there);
  check_true("MPI_WIN_BASE", is_there && base == (void*)window->base);
  MPI_Win_get_attr(window->win, MPI_WIN_SIZE, &size, &is_there);
  check_true("MPI_WIN_SIZE is there", is_there);
  check_equal("MPI_WIN_SIZE", window->size, *size);
  check_equal("MPI_WIN_DISP_UNIT", window->unit, attribute(window->win, MPI_WIN_DISP_UNIT));
  check_equal("flavour", flavour, attribute(window->win, MPI_WIN_CREATE_FLAVOR));
  check_equal("model", MPI_WIN_UNIFIED, attribute(window->win, MPI_WIN_MODEL));
}

static void check_name_and_group(MPI_Win win) {
  char name[MPI_MAX_OBJECT_NAME];
  int length = -1, compared;
  MPI_Group of_win, of_world;
  MPI_Win_set_name(win, "a window");
  MPI_Win_get_name(win, name, &length);
  check_true("the name", length == 8 && strcmp(name, "a window") == 0);
  MPI_Win_get_group(win, &of_win);
  MPI_Comm_group(MPI_COMM_WORLD, &of_world);
  MPI_Group_compare(of_win, of_world, &compared);
  check_equal("the group is the world's", MPI_IDENT, compared);
  MPI_Group_free(&of_win);
  MPI_Group_free(&of_world);
}

/* By default ours, and MPI's where the program says so. */
static void check_async(MPI_Win win, const char* expected) {
  MPI_Info info;
  char value[MPI_MAX_INFO_VAL + 1] = "";
  int is_there = 0;
  MPI_Win_get_info(win, &info);
  MPI_Info_get(info, "photon_async", MPI_MAX_INFO_VAL, value, &is_there);
  MPI_Info_free(&info);
  if (!is_ours) return;
  if (!is_there || strcmp(value, expected) != 0)
    fail("photon_async: expected %s, found %s", expected, is_there ? value : "nothing");
}

static int handled; /* calls of on_error */
static void on_error(MPI_Win* win, int* code, ...) {
  (void)win;
  check_true("the handler gets an error", *code != MPI_SUCCESS);
  ++handled;
}

static void check_handler(MPI_Win win) {
  MPI_Errhandler handler, found;
  int class;
  MPI_Win_create_errhandler(on_error, &handler);
  MPI_Win_set_errhandler(win, handler);
  MPI_Win_get_errhandler(win, &found);
  handled = 0;
  MPI_Win_call_errhandler(win, MPI_ERR_OTHER);
  check_equal("calls of the handler", 1, handled);
  if (is_ours) {
    int value = 0;
    class = class_of(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
    check_equal("class of a put outside an epoch", MPI_ERR_RMA_SYNC, class);
    check_equal("calls of the handler", 2, handled);
  }
  MPI_Errhandler_free(&handler);
  MPI_Errhandler_free(&found);
}

static void flavour_and_info(void) {
  for (int asks = 0; asks < 2; ++asks)
    for (int kind = 0; kind < kMemoryKinds; ++kind) {
      struct window window = {.kind = (enum memory_kind)kind, .size = 4096, .unit = 4};
      MPI_Info info;
      at_step("on %s, asks %d", kMemoryNames[kind], asks);
      MPI_Info_create(&info);
      if (asks) MPI_Info_set(info, "photon_async", "false");
      open_window(&window, MPI_COMM_WORLD, info);
      MPI_Info_free(&info);
      check_attributes(&window,
                       kind == kAllocated ? MPI_WIN_FLAVOR_ALLOCATE : MPI_WIN_FLAVOR_CREATE);
      check_name_and_group(window.win);
      check_async(window.win, asks ? "false" : "true");
      if (!asks) check_handler(window.win);
      close_window(&window);
    }
}

/* The next member of this host behind that one, of the host's ring. */
static int near_behind(int rank, int step) {
  do rank = (rank + step + ranks) % ranks;
  while (!is_near(rank));
  return rank;
}

/* What the window says of a rank's memory; null: it has none that this process can use. */
static int* queried(MPI_Win win, int rank, MPI_Aint size) {
  MPI_Aint found_size = -1;
  int unit = -1, *memory = (int*)&found_size;
  MPI_Win_shared_query(win, rank, &found_size, &unit, &memory);
  if (rank != MPI_PROC_NULL && !is_near(rank)) {
    check_equal("size of memory of another host", 0, found_size);
    check_true("it has no address", memory == NULL);
    return NULL;
  }
  check_equal("size", size, found_size);
  check_equal("unit", 4, unit);
  return memory;
}

/* A neighbour's memory through a pointer, where the window has such: on this host. */
static void query_neighbour(MPI_Win win, MPI_Aint size) {
  int first = 0;
  while (!is_near(first)) ++first;
  const int next = near_behind(my_rank, 1);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
  for (int rank = 0; rank < ranks; ++rank) queried(win, rank, size);
  queried(win, next, size)[1] = 100 + my_rank;
  MPI_Win_sync(win);
  meet();
  MPI_Win_sync(win);
  check_equal("what the neighbour wrote", 100 + near_behind(my_rank, -1),
              queried(win, my_rank, size)[1]);
  /* Of the lowest rank that has memory: here the first one of this host. */
  check_equal("the first of all wrote", 100 + near_behind(first, -1),
              queried(win, MPI_PROC_NULL, size)[1]);
  meet();
  MPI_Win_unlock_all(win);
}

/* MPI has them for the ranks of one host alone. */
static void query_shared(void) {
  MPI_Win win;
  int* base;
  at_step("MPI_Win_allocate_shared");
  if (!is_one_host()) return;
  MPI_Win_allocate_shared(4096, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  query_neighbour(win, 4096);
  MPI_Win_free(&win);
}

static void shared_query(void) {
  query_shared();
  if (!is_ours) return; /* Of other windows MPI 4.1 answers, MPI 3 does not. */
  struct window window = {.kind = kAllocated, .size = 4096, .unit = 4};
  at_step("MPI_Win_allocate");
  open_window(&window, MPI_COMM_WORLD, MPI_INFO_NULL);
  query_neighbour(window.win, 4096);
  close_window(&window);
}

static int deleted;
static int on_delete(MPI_Win win, int keyval, void* value, void* extra) {
  char name[MPI_MAX_OBJECT_NAME] = "";
  long long* base;
  int length = 0, is_there = 0, size = 0;
  MPI_Group group;
  (void)extra;
  (void)keyval;
  check_true("the callback's value", value == (void*)&deleted);
  /* All of the window is still here. */
  check_equal("unit", 8, attribute(win, MPI_WIN_DISP_UNIT));
  MPI_Win_get_name(win, name, &length);
  check_true("name", strcmp(name, "to be freed") == 0);
  MPI_Win_get_group(win, &group);
  MPI_Group_size(group, &size);
  MPI_Group_free(&group);
  check_equal("size of the group", ranks, size);
  MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &is_there);
  check_true("MPI_WIN_BASE", is_there);
  /* Open MPI 4.1 has given back the memory of its own windows already. */
  if (!is_plain("Open MPI")) check_equal("what the callback reads", 4711, base[2]);
  ++deleted;
  return MPI_SUCCESS;
}

static void delete_callback(void) {
  int keyval;
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &keyval, NULL);
  for (int kind = 0; kind < kMemoryKinds; ++kind) {
    struct window window = {.kind = (enum memory_kind)kind, .size = 64, .unit = 8};
    at_step("on %s", kMemoryNames[kind]);
    open_window(&window, MPI_COMM_WORLD, MPI_INFO_NULL);
    lock_own(window.win, my_rank);
    ((long long*)window.base)[2] = 4711;
    unlock_own(window.win, my_rank);
    MPI_Win_set_name(window.win, "to be freed");
    MPI_Win_set_attr(window.win, keyval, &deleted);
    deleted = 0;
    close_window(&window);
    check_equal("calls of the callback", 1, deleted);
  }
  MPI_Win_free_keyval(&keyval);
}

/* Some ranks have no memory at all. */
static void units_and_sizes(void) {
  for (int kind = 0; kind < kMemoryKinds; ++kind) {
    const int with = (my_rank + 1) % ranks;
    struct window window = {.kind = (enum memory_kind)kind, .unit = 1 + my_rank * 3};
    at_step("on %s", kMemoryNames[kind]);
    window.size = my_rank == 0 ? 0 : 64 * my_rank + (is_ours || kind != kAllocated ? 5 : 0);
    open_window(&window, MPI_COMM_WORLD, MPI_INFO_NULL);
    MPI_Win_fence(0, window.win);
    /* The last bytes of the neighbour that fill a unit. */
    const int unit = 1 + with * 3;
    const unsigned char mark = (unsigned char)(my_rank + 1);
    if (with != 0)
      MPI_Put(&mark, 1, MPI_UNSIGNED_CHAR, with, 64 * with / unit, 1, MPI_UNSIGNED_CHAR,
              window.win);
    if (with == 0) MPI_Put(NULL, 0, MPI_INT, 0, 0, 0, MPI_INT, window.win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window.win);
    lock_own(window.win, my_rank);
    if (my_rank != 0)
      check_equal("mark", my_rank, window.base[64 * my_rank / window.unit * window.unit]);
    unlock_own(window.win, my_rank);
    meet();
    close_window(&window);
  }
}

/* Members in another order than in the world; some ranks are in none. */
static void subcommunicator(void) {
  MPI_Comm comm;
  const int is_out = ranks > 2 && my_rank == ranks - 1;
  MPI_Comm_split(MPI_COMM_WORLD, is_out ? MPI_UNDEFINED : my_rank / 4, -my_rank, &comm);
  for (int kind = 0; kind < kMemoryKinds && !is_out; ++kind) {
    struct window window = {.kind = (enum memory_kind)kind, .size = 256, .unit = 4};
    int rank, size;
    at_step("on %s", kMemoryNames[kind]);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (size == 1 && kind != kAllocated && !is_ours) continue; /* Open MPI 4.1 refuses it */
    open_window(&window, comm, MPI_INFO_NULL);
    MPI_Win_fence(0, window.win);
    for (int target = 0; target < size; ++target)
      MPI_Put(&my_rank, 1, MPI_INT, target, rank, 1, MPI_INT, window.win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window.win);
    lock_own(window.win, rank);
    for (int i = 0; i < size; ++i) {
      const int first = my_rank / 4 * 4;
      check_at("who is who", i, first + size - 1 - i, ((int*)window.base)[i]);
    }
    unlock_own(window.win, rank);
    MPI_Barrier(comm);
    close_window(&window);
  }
  if (!is_out) MPI_Comm_free(&comm);
}

/* Nothing may be used up by windows that are gone. */
static void allocate_in_a_loop(void) {
  const int rounds = is_ours ? 300 : 30;
  for (int i = 0; i < rounds; ++i) {
    struct window windows[2] = {{.kind = kAllocated, .size = 1 << 20, .unit = 8},
                                {.kind = kMalloc, .size = 1 << 10, .unit = 8}};
    const long long value = i * 100 + my_rank;
    at_step("round %d", i);
    for (int k = 0; k < 2; ++k) open_window(&windows[k], MPI_COMM_WORLD, MPI_INFO_NULL);
    for (int k = 0; k < 2; ++k) {
      MPI_Win_fence(0, windows[k].win);
      MPI_Put(&value, 1, MPI_LONG_LONG, (my_rank + 1) % ranks, 100, 1, MPI_LONG_LONG,
              windows[k].win);
      MPI_Win_fence(MPI_MODE_NOSUCCEED, windows[k].win);
      check_equal("value", i * 100 + (my_rank + ranks - 1) % ranks,
                  ((long long*)windows[k].base)[100]);
    }
    /* By turns in the order of their making and against it. */
    for (int k = 0; k < 2; ++k) close_window(&windows[(k + i) % 2]);
  }
}

static void larger_than_arena(void) {
  const MPI_Aint size = (MPI_Aint)256 << 20;
  struct window window = {.kind = kAllocated, .size = size, .unit = 1};
  const long long value = 77 + my_rank;
  const int next = (my_rank + 1) % ranks;
  open_window(&window, MPI_COMM_WORLD, MPI_INFO_NULL);
  MPI_Win_lock_all(0, window.win);
  for (MPI_Aint at = 0; at < size; at += size / 8)
    MPI_Put(&value, 1, MPI_LONG_LONG, next, at + size / 8 - 8, 1, MPI_LONG_LONG, window.win);
  MPI_Accumulate(&value, 1, MPI_LONG_LONG, next, size - 8, 1, MPI_LONG_LONG, MPI_SUM, window.win);
  MPI_Win_unlock_all(window.win);
  meet();
  lock_own(window.win, my_rank);
  const long long expected = 77 + (my_rank + ranks - 1) % ranks;
  for (MPI_Aint at = 0; at < size; at += size / 8) {
    const long long found = *(long long*)(window.base + at + size / 8 - 8);
    check_at("value", at, at + size / 8 == size ? 2 * expected : expected, found);
  }
  unlock_own(window.win, my_rank);
  meet();
  close_window(&window);
}

static void one_rank(void) {
  for (int kind = 0; kind < kMemoryKinds; ++kind) {
    struct window window = {.kind = (enum memory_kind)kind, .size = 64, .unit = 8};
    long long one = 1, fetched = -1;
    at_step("on %s", kMemoryNames[kind]);
    if (kind != kAllocated && is_plain("Open MPI")) continue; /* 4.1 refuses it */
    open_window(&window, MPI_COMM_SELF, MPI_INFO_NULL);
    MPI_Win_fence(0, window.win);
    ((long long*)window.base)[3] = 41;
    MPI_Win_fence(0, window.win);
    MPI_Accumulate(&one, 1, MPI_LONG_LONG, 0, 3, 1, MPI_LONG_LONG, MPI_SUM, window.win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window.win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window.win);
    MPI_Fetch_and_op(&one, &fetched, MPI_LONG_LONG, 0, 3, MPI_SUM, window.win);
    MPI_Win_unlock(0, window.win);
    check_equal("fetched", 42, fetched);
    lock_own(window.win, 0);
    check_equal("value", 43, ((long long*)window.base)[3]);
    unlock_own(window.win, 0);
    close_window(&window);
  }
}

int main(int argc, char** argv) {
  const struct test_case cases[] = {{"flavour_and_info", flavour_and_info},
                                    {"shared_query", shared_query},
                                    {"delete_callback", delete_callback},
                                    {"units_and_sizes", units_and_sizes},
                                    {"subcommunicator", subcommunicator},
                                    {"allocate_in_a_loop", allocate_in_a_loop},
                                    {"larger_than_arena", larger_than_arena},
                                    {"one_rank", one_rank},
                                    {NULL, NULL}};
  MPI_Init(&argc, &argv);
  return run_cases(argc, argv, cases);
}
