/*
 * What the programs of this folder share: a table of cases, checks that end the job with a line of
 * rank, case, expected and found, and memory of each kind that a window can have.
 *
 *   PROGRAM ours|plain [CASE...]    no case: all of them
 *
 * "plain" leaves out what the MPIs that we know do not do; each place that asks says what it is.
 * Rank 0 prints "ok CASE" when all ranks have come through a case.
 * Owner: the program. Threads: checks may fail in any, the rest is for the main thread.
 */
#pragma once

#include <inttypes.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { kMostRanks = 16 };

struct test_case {
  const char* name;
  void (*run)(void);
};

static int my_rank, ranks;
static int is_ours;           /* the windows have to be Photon's */
static const char* case_name; /* that runs */
static char step_text[200];   /* where in the case */

/* This text stands in each failure from now on. */
__attribute__((unused, format(printf, 1, 2))) static void at_step(const char* format, ...) {
  va_list values;
  va_start(values, format);
  vsnprintf(step_text, sizeof step_text, format, values);
  va_end(values);
}

__attribute__((unused, noreturn, format(printf, 1, 2))) static void fail(const char* format, ...) {
  char text[500];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  fprintf(stderr, "rank %d of %d: %s: %s: %s\n", my_rank, ranks, case_name, step_text, text);
  fflush(NULL);
  MPI_Abort(MPI_COMM_WORLD, 1);
  abort();
}

__attribute__((unused)) static void check_equal(const char* what, long long expected,
                                                long long found) {
  if (expected != found) fail("%s: expected %lld, found %lld", what, expected, found);
}

__attribute__((unused)) static void check_at(const char* what, long index, long long expected,
                                             long long found) {
  if (expected != found) fail("%s[%ld]: expected %lld, found %lld", what, index, expected, found);
}

__attribute__((unused)) static void check_real(const char* what, long index, double expected,
                                               double found) {
  if (expected != found) fail("%s[%ld]: expected %.17g, found %.17g", what, index, expected, found);
}

__attribute__((unused)) static void check_true(const char* what, int is_so) {
  if (!is_so) fail("%s: expected true, found false", what);
}

__attribute__((unused)) static void check_bytes(const char* what, const void* expected,
                                                const void* found, size_t size) {
  const unsigned char* a = expected;
  const unsigned char* b = found;
  for (size_t i = 0; i < size; ++i)
    if (a[i] != b[i]) fail("%s: byte %zu: expected %02x, found %02x", what, i, a[i], b[i]);
}

__attribute__((unused)) static int class_of(int code) {
  int class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  return class;
}

__attribute__((unused)) static void* must_have(void* memory) {
  if (memory == NULL) fail("no memory");
  return memory;
}

__attribute__((unused)) static void meet(void) { MPI_Barrier(MPI_COMM_WORLD); }

/* Whether this runs with that MPI's own windows, some of whose calls fail. */
__attribute__((unused)) static int is_plain(const char* library) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  if (is_ours) return 0;
  MPI_Get_library_version(text, &length);
  return strstr(text, library) != NULL;
}

/* A window and its memory, of one of these kinds. */
enum memory_kind { kAllocated, kAllocMem, kMalloc, kStatic, kMemoryKinds };
__attribute__((unused)) static const char* const kMemoryNames[] = {
    "MPI_Win_allocate", "MPI_Alloc_mem", "malloc", "static memory"};

struct window {
  MPI_Win win;
  unsigned char* base;
  MPI_Aint size;
  int unit;
  enum memory_kind kind;
};

enum { kStaticBytes = 1 << 17 };
/* One window at a time has it. */
__attribute__((unused)) static _Alignas(64) unsigned char static_memory[kStaticBytes];

/* Collective over `comm`; `window->kind`, `size` and `unit` are set, `base` is made. */
__attribute__((unused)) static void open_window(struct window* window, MPI_Comm comm,
                                                MPI_Info info) {
  switch (window->kind) {
    case kAllocated:
      /* MPICH 4.0 finds wrong memory of a peer behind sizes that are no multiple of 16. */
      if (!is_ours) window->size = (window->size + 63) & ~(MPI_Aint)63;
      MPI_Win_allocate(window->size, window->unit, info, comm, &window->base, &window->win);
      return;
    case kAllocMem: MPI_Alloc_mem(window->size, MPI_INFO_NULL, &window->base); break;
    case kMalloc: window->base = must_have(malloc((size_t)window->size + 1)); break;
    default:
      if (window->size > kStaticBytes) fail("static memory is too small");
      window->base = static_memory;
  }
  MPI_Win_create(window->base, window->size, window->unit, info, comm, &window->win);
}

__attribute__((unused)) static void close_window(struct window* window) {
  MPI_Win_free(&window->win);
  check_true("a freed window is MPI_WIN_NULL", window->win == MPI_WIN_NULL);
  if (window->kind == kAllocMem) MPI_Free_mem(window->base);
  if (window->kind == kMalloc) free(window->base);
}

/* Around loads and stores of a rank to its own window: right in both memory models. */
__attribute__((unused)) static void lock_own(MPI_Win win, int own_rank) {
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, own_rank, 0, win);
}
__attribute__((unused)) static void unlock_own(MPI_Win win, int own_rank) {
  MPI_Win_unlock(own_rank, win);
}

/* Or a library that stands aside would pass all cases. */
__attribute__((unused)) static void check_windows_are_ours(void) {
  MPI_Win win;
  MPI_Info info;
  void* base;
  char value[MPI_MAX_INFO_VAL + 1] = "";
  int is_there = 0;
  if (!is_ours) return;
  at_step("whose windows are these");
  MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  MPI_Win_get_info(win, &info);
  MPI_Info_get(info, "photon_async", MPI_MAX_INFO_VAL, value, &is_there);
  MPI_Info_free(&info);
  MPI_Win_free(&win);
  if (!is_there || strcmp(value, "true") != 0) fail("photon_async: expected true, found %s", value);
}

/* The network namespace of each rank's process: two ranks are on one host where it is the same. */
static unsigned long hosts[kMostRanks];

/* Finds them, by MPI alone. There are as many hosts as the test wants, or a job of two might run on
 * one without a word. */
__attribute__((unused)) static void find_hosts(void) {
  struct stat own;
  const char* const wanted = getenv("PHOTON_TEST_HOSTS");
  int count = 0;
  at_step("on which hosts the ranks are");
  if (stat("/proc/self/ns/net", &own) != 0) fail("no /proc/self/ns/net");
  const unsigned long inode = (unsigned long)own.st_ino;
  MPI_Allgather(&inode, 1, MPI_UNSIGNED_LONG, hosts, 1, MPI_UNSIGNED_LONG, MPI_COMM_WORLD);
  for (int rank = 0; rank < ranks; ++rank) {
    int first = 0;
    while (hosts[first] != hosts[rank]) ++first;
    count += first == rank;
  }
  if (wanted != NULL) check_equal("the number of hosts", atoi(wanted), count);
}
__attribute__((unused)) static int is_near(int rank) { return hosts[rank] == hosts[my_rank]; }
__attribute__((unused)) static int is_one_host(void) {
  for (int rank = 0; rank < ranks; ++rank)
    if (!is_near(rank)) return 0;
  return 1;
}

__attribute__((unused)) static int is_asked_for(int argc, char** argv, const char* name) {
  for (int i = 2; i < argc; ++i)
    if (strcmp(argv[i], name) == 0) return 1;
  return argc <= 2;
}

/* All of main() but MPI_Init. `cases` ends with a name of null. */
__attribute__((unused)) static int run_cases(int argc, char** argv, const struct test_case* cases) {
  int done = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  case_name = argv[0];
  if (argc < 2 || (strcmp(argv[1], "ours") != 0 && strcmp(argv[1], "plain") != 0))
    fail("usage: %s ours|plain [CASE...]", argv[0]);
  if (ranks > kMostRanks) fail("at most %d ranks", kMostRanks);
  is_ours = strcmp(argv[1], "ours") == 0;
  find_hosts();
  check_windows_are_ours();
  for (; cases->name != NULL; ++cases) {
    if (!is_asked_for(argc, argv, cases->name)) continue;
    case_name = cases->name;
    at_step("begins");
    cases->run();
    meet();
    if (my_rank == 0) printf("ok %s\n", case_name);
    if (my_rank == 0) fflush(stdout);
    ++done;
  }
  if (argc > 2 && done != argc - 2) fail("%d of %d cases exist", done, argc - 2);
  MPI_Finalize();
  return 0;
}
