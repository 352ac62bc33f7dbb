/* The rows of mpi_overlap, and the window that they work on.
 *
 * Owner: main() has the one Run; rows read and write it. Threads: the program's one.
 */
#pragma once

#include "mpi_common.h"

enum { kTarget = 0, kWords = 64, kSumDoubles = (1 << 20) / sizeof(double) };

typedef struct Options {
  int row, memory, type, compute_ms, repeats, is_tiny;
  long operations;
} Options;

/* An element of a window: a double or a whole number, as the run says. */
typedef union Word {
  double real;
  int64_t whole;
} Word;

typedef struct Run {
  int rank, ranks, row, memory, is_real;
  const char* row_name;
  MPI_Datatype type;
  MPI_Win window;
  Word* words;   /* of this rank; kSumDoubles of them */
  uint64_t turn; /* how often the target has written its words anew */
  uint64_t sum, wrong;
  char said[512];
} Run;

static inline Word word_of(const Run* run, uint64_t number) {
  Word word;
  if (run->is_real)
    word.real = (double)number;
  else
    word.whole = (int64_t)number;
  return word;
}

static inline uint64_t number_in(const Run* run, const Word* word) {
  return run->is_real ? (uint64_t)word->real : (uint64_t)word->whole;
}

/* What the target writes into a word before operations begin. */
static inline uint64_t first_in(const Run* run, uint64_t word) {
  return run->turn * 1000 + word * 7;
}

void open_window(Run* run);
void close_window(Run* run);

/* The target writes its words anew; then all ranks have met. */
void renew(Run* run);

/* Members of the line that rank 0 prints. */
__attribute__((format(printf, 2, 3))) void run_says(Run* run, const char* format, ...);

void measure_sum(Run* run, const Options* options);
void measure_fence(Run* run, const Options* options);
void measure_contend(Run* run, const Options* options);
void measure_crowd(Run* run, const Options* options);
