/* What the programs of MPI that are measured here share: the clock, the state of the cores,
 * options.
 *
 * The clock is CLOCK_MONOTONIC, which all ranks of one kernel read alike: times of different ranks
 * are compared.
 * Owner: nobody, these are functions. Threads: those of the program's one thread.
 */
#pragma once

#include <mpi.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline double ns_between(uint64_t start_ns, uint64_t end_ns) {
  return (double)(end_ns - start_ns);
}

/* Ends the job with words: for results that are wrong. */
__attribute__((format(printf, 1, 2), noreturn)) static inline void fail(const char* format, ...) {
  char text[512];
  va_list words;
  va_start(words, format);
  vsnprintf(text, sizeof text, format, words);
  va_end(words);
  fprintf(stderr, "%s\n", text); /* one write: other ranks may fail, too */
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

static inline void* memory_of(size_t bytes) {
  void* const memory = malloc(bytes ? bytes : 1);
  if (memory == NULL) fail("there are no %zu bytes of memory", bytes);
  return memory;
}

static inline int ascending_doubles(const void* left, const void* right) {
  const double a = *(const double*)left, b = *(const double*)right;
  return (a > b) - (a < b);
}

/* Sorts the samples. */
static inline double median_of(double* samples, size_t count) {
  qsort(samples, count, sizeof *samples, ascending_doubles);
  return samples[(count - 1) / 2];
}

/* Computes for so long, and returns when it was over. */
static inline uint64_t compute_for(double span_ns) {
  const uint64_t start_ns = now_ns();
  double value = 1;
  uint64_t end_ns = start_ns;
  while (ns_between(start_ns, end_ns) < span_ns) {
    for (int i = 0; i < 1000; ++i) value = value * 0.999 + 1.0 / (value + i);
    end_ns = now_ns();
  }
  if (!(value > 0)) fail("a sum of positive numbers is %g", value);
  return end_ns;
}

static inline double clock_cost_ns(void) {
  enum { kSamples = 1001 };
  double costs_ns[kSamples];
  for (int i = 0; i < kSamples; ++i) {
    const uint64_t start_ns = now_ns();
    costs_ns[i] = ns_between(start_ns, now_ns());
  }
  return median_of(costs_ns, kSamples);
}

/* The whole text is a number from least to most, or -1. */
static inline long number_of(const char* text, long least, long most) {
  char* end = NULL;
  const long value = text ? strtol(text, &end, 10) : -1;
  return text && *text != '\0' && *end == '\0' && value >= least && value <= most ? value : -1;
}

/* Where `text` stands in the list, whose end is NULL, or -1. */
static inline int place_in(const char* const* list, const char* text) {
  for (int i = 0; text && list[i] != NULL; ++i)
    if (strcmp(list[i], text) == 0) return i;
  return -1;
}

/* All ranks meet, and sleep between their looks: nobody's core is taken meanwhile. */
static inline void meet_asleep(MPI_Comm all) {
  const struct timespec nap = {0, 200000};
  MPI_Request request;
  int is_over = 0;
  MPI_Ibarrier(all, &request);
  for (;;) {
    MPI_Test(&request, &is_over, MPI_STATUS_IGNORE);
    if (is_over) return;
    nanosleep(&nap, NULL);
  }
}

typedef struct PingWord {
  _Alignas(256) _Atomic uint64_t value;
} PingWord;

/* One way between ranks 0 and 1, each of which writes a line that the other one watches. */
static inline double best_way_ns(PingWord* words, int rank) {
  enum { kRepetitions = 10, kTrips = 100, kPatience = 20000 };
  _Atomic uint64_t* const mine = &words[rank].value;
  _Atomic uint64_t* const theirs = &words[1 - rank].value;
  double best_ns = 0;
  uint64_t trip = 0;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    const uint64_t start_ns = now_ns();
    for (int i = 0; i < kTrips; ++i) {
      ++trip;
      if (rank == 0) atomic_store_explicit(mine, trip, memory_order_release);
      for (long turn = 0; atomic_load_explicit(theirs, memory_order_acquire) != trip; ++turn)
        if (turn > kPatience) sched_yield();
      if (rank == 1) atomic_store_explicit(mine, trip, memory_order_release);
    }
    const double way_ns = ns_between(start_ns, now_ns()) / (2.0 * kTrips);
    if (best_ns == 0 || way_ns < best_ns) best_ns = way_ns;
  }
  return best_ns;
}

/* The state of the cores: the way of a line between ranks 0 and 1 in ns, at rank 0; 0 where the
 * ranks share no memory, or there is one rank. All ranks call it. */
static inline double ping_ns(void) {
  int rank = 0, ranks = 0, here = 0, unit = 0;
  MPI_Comm host;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
  MPI_Comm_size(host, &here);
  double way_ns = 0;
  if (here == ranks && ranks > 1) {
    void* start = NULL;
    MPI_Win window;
    MPI_Aint bytes = rank == 0 ? 3 * (MPI_Aint)sizeof(PingWord) : 0;
    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, host, &start, &window);
    MPI_Win_shared_query(window, 0, &bytes, &unit, &start);
    const uintptr_t line = _Alignof(PingWord);
    PingWord* const words = (PingWord*)(((uintptr_t)start + line - 1) / line * line);
    if (rank == 0) memset(words, 0, 2 * sizeof *words);
    MPI_Barrier(host);
    if (rank < 2) way_ns = best_way_ns(words, rank);
    meet_asleep(host);
    MPI_Win_free(&window);
  }
  MPI_Comm_free(&host);
  return way_ns;
}
