/* The window, and the rows that are no question of overlap alone.
 *
 * sum: the target waits in MPI, so that plain MPI gets on. Beside it stand two sums by plain loops,
 * of memory that the origin has just written itself (local_us), and of memory that the other rank
 * has just written, in a window that both have mapped (mapped_us).
 * contend: the window is that of rank 0, which is one of the two.
 * crowd: each turn is timed, and what reading the clock costs is left out of ns_a_turn.
 */
#include "rows.h"

void open_window(Run* run) {
  const MPI_Aint bytes = kSumDoubles * (MPI_Aint)sizeof(Word);
  const int unit = (int)sizeof(Word);
  if (run->memory == 0) {
    MPI_Win_allocate(bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &run->words, &run->window);
  } else {
    run->words = memory_of((size_t)bytes);
    MPI_Win_create(run->words, bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &run->window);
  }
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, run->rank, 0, run->window);
  memset(run->words, 0, (size_t)bytes);
  MPI_Win_unlock(run->rank, run->window);
}

void close_window(Run* run) {
  MPI_Win_free(&run->window);
  if (run->memory != 0) free(run->words);
}

void renew(Run* run) {
  ++run->turn;
  run->sum = first_in(run, 0);
  if (run->rank == kTarget) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, kTarget, 0, run->window);
    for (uint64_t word = 0; word < kWords; ++word)
      run->words[word] = word_of(run, first_in(run, word));
    MPI_Win_unlock(kTarget, run->window);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

void run_says(Run* run, const char* format, ...) {
  va_list words;
  va_start(words, format);
  vsnprintf(run->said, sizeof run->said, format, words);
  va_end(words);
}

static void fill(double* to, uint64_t first) {
  for (int i = 0; i < kSumDoubles; ++i) to[i] = (double)(first + (uint64_t)i);
}

static void check_sum(const double* found, uint64_t first, const char* whose) {
  for (int i = 0; i < kSumDoubles; ++i)
    if (found[i] != (double)(first + 3 * (uint64_t)i))
      fail("%s: element %d of the sum is %g and should be %g", whose, i, found[i],
           (double)(first + 3 * (uint64_t)i));
}

static double add_all(double* restrict to, const double* restrict from) {
  const uint64_t start_ns = now_ns();
  for (int i = 0; i < kSumDoubles; ++i) to[i] += from[i];
  return ns_between(start_ns, now_ns()) / 1000;
}

/* to[i] becomes first + i, of the target; from[i] is 2i. */
static void fill_even(double* from) {
  for (int i = 0; i < kSumDoubles; ++i) from[i] = 2.0 * i;
}

static double accumulated_us(Run* run, double* from, uint64_t first) {
  double us = 0;
  if (run->rank == kTarget) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, kTarget, 0, run->window);
    fill((double*)run->words, first);
    MPI_Win_unlock(kTarget, run->window);
  }
  fill_even(from);
  MPI_Barrier(MPI_COMM_WORLD);
  if (run->rank != kTarget) {
    const uint64_t start_ns = now_ns();
    MPI_Win_lock(MPI_LOCK_SHARED, kTarget, 0, run->window);
    MPI_Accumulate(from, kSumDoubles, MPI_DOUBLE, kTarget, 0, kSumDoubles, MPI_DOUBLE, MPI_SUM,
                   run->window);
    MPI_Win_unlock(kTarget, run->window);
    us = ns_between(start_ns, now_ns()) / 1000;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (run->rank == kTarget) {
    MPI_Win_lock(MPI_LOCK_SHARED, kTarget, 0, run->window);
    check_sum((double*)run->words, first, "accumulate");
    MPI_Win_unlock(kTarget, run->window);
  }
  return us;
}

static double mapped_us(const Run* run, MPI_Win shared, double* to, double* from) {
  double us = 0;
  if (run->rank == kTarget) fill(to, 1);
  fill_even(from);
  MPI_Win_sync(shared);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(shared);
  if (run->rank != kTarget) us = add_all(to, from);
  MPI_Win_sync(shared);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(shared);
  if (run->rank == kTarget) check_sum(to, 1, "mapped");
  MPI_Barrier(MPI_COMM_WORLD);
  return us;
}

static double local_us(double* to, double* from) {
  fill(to, 2);
  fill_even(from);
  const double us = add_all(to, from);
  check_sum(to, 2, "local");
  return us;
}

void measure_sum(Run* run, const Options* options) {
  enum { kKinds = 3, kMost = 21 };
  const size_t count = options->is_tiny ? 3 : kMost, bytes = kSumDoubles * sizeof(double);
  double samples_us[kKinds][kMost], medians_us[kKinds] = {0};
  double *const from = memory_of(bytes), *const to = memory_of(bytes);
  double* mapped = NULL;
  int unit = 0;
  MPI_Aint size = run->rank == kTarget ? (MPI_Aint)bytes : 0;
  MPI_Win shared;
  MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mapped, &shared);
  MPI_Win_shared_query(shared, kTarget, &size, &unit, &mapped);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, shared);
  for (size_t i = 0; i < count; ++i) {
    samples_us[0][i] = accumulated_us(run, from, 100 * i);
    samples_us[1][i] = run->rank == kTarget ? 0 : local_us(to, from);
    samples_us[2][i] = mapped_us(run, shared, mapped, from);
  }
  MPI_Win_unlock_all(shared);
  MPI_Win_free(&shared);
  for (int kind = 0; kind < kKinds; ++kind) medians_us[kind] = median_of(samples_us[kind], count);
  MPI_Bcast(medians_us, kKinds, MPI_DOUBLE, 1, MPI_COMM_WORLD);
  run_says(run, "\"us\": %.2f, \"local_us\": %.2f, \"mapped_us\": %.2f, \"times_local\": %.2f",
           medians_us[0], medians_us[1], medians_us[2], medians_us[0] / medians_us[1]);
  free(from);
  free(to);
}

/* The median of the runs; a run is 1000 fences, and there are 20 of them or a second. */
void measure_fence(Run* run, const Options* options) {
  enum { kRuns = 20 };
  const int fences = options->is_tiny ? 50 : 1000;
  const uint64_t begun_ns = now_ns();
  double samples_us[kRuns];
  size_t count = 0;
  int goes_on = 1;
  MPI_Win_fence(MPI_MODE_NOPRECEDE, run->window);
  while (goes_on) {
    const uint64_t start_ns = now_ns();
    for (int i = 0; i < fences; ++i) MPI_Win_fence(0, run->window);
    samples_us[count++] = ns_between(start_ns, now_ns()) / 1000 / fences;
    goes_on = count < kRuns && ns_between(begun_ns, now_ns()) < 1e9;
    MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  MPI_Win_fence(MPI_MODE_NOSUCCEED, run->window);
  run_says(run, "\"us\": %.4f", median_of(samples_us, count));
}

static void take_turn(const Run* run) {
  const Word one = word_of(run, 1);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, kTarget, 0, run->window);
  MPI_Accumulate(&one, 1, run->type, kTarget, 0, 1, run->type, MPI_SUM, run->window);
  MPI_Win_unlock(kTarget, run->window);
}

static void check_turns(Run* run, uint64_t turns) {
  if (run->rank != kTarget) return;
  MPI_Win_lock(MPI_LOCK_SHARED, kTarget, 0, run->window);
  const uint64_t found = number_in(run, &run->words[0]) - first_in(run, 0);
  MPI_Win_unlock(kTarget, run->window);
  if (found != turns)
    fail("%llu turns were taken, and the word counts %llu", (unsigned long long)turns,
         (unsigned long long)found);
}

void measure_contend(Run* run, const Options* options) {
  enum { kBatch = 16 };
  const double span_ns = 1e6 * (double)options->compute_ms;
  uint64_t mine = 0, all[2] = {0, 0}, start_ns = 0, end_ns = 0;
  renew(run);
  take_turn(run); /* the ranks get to know each other */
  MPI_Barrier(MPI_COMM_WORLD);
  renew(run);
  start_ns = now_ns();
  MPI_Bcast(&start_ns, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  while (ns_between(start_ns, now_ns()) < span_ns)
    for (int i = 0; i < kBatch; ++i, ++mine) take_turn(run);
  end_ns = now_ns();
  MPI_Allgather(&mine, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &end_ns, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  check_turns(run, all[0] + all[1]);
  const uint64_t slower = all[0] < all[1] ? all[0] : all[1];
  run_says(run, "\"us\": %.4f, \"turns\": [%llu, %llu], \"slower_to_faster\": %.3f",
           ns_between(start_ns, end_ns) / 1000 / (double)(all[0] + all[1]),
           (unsigned long long)all[0], (unsigned long long)all[1],
           (double)slower / (double)(all[0] + all[1] - slower));
}

/* Turns of one origin until its time is over; the longest one in ns. */
static uint64_t crowded_turns(const Run* run, double span_ns, double* longest_ns) {
  const uint64_t start_ns = now_ns();
  uint64_t turns = 0;
  for (uint64_t last_ns = start_ns, next_ns; ns_between(start_ns, last_ns) < span_ns;
       last_ns = next_ns, ++turns) {
    take_turn(run);
    next_ns = now_ns();
    if (ns_between(last_ns, next_ns) > *longest_ns) *longest_ns = ns_between(last_ns, next_ns);
  }
  return turns;
}

void measure_crowd(Run* run, const Options* options) {
  const double compute_ns = 5e6 * (double)options->compute_ms, span_ns = 0.8 * compute_ns;
  double longest_ns = 0;
  uint64_t turns = 0, fewest = INT64_MAX, end_ns = 0, computed_ns = 0;
  renew(run);
  if (run->rank != kTarget) take_turn(run);
  MPI_Barrier(MPI_COMM_WORLD);
  renew(run);
  if (run->rank == kTarget) {
    for (int rank = 1; rank < run->ranks; ++rank)
      MPI_Send(NULL, 0, MPI_BYTE, rank, 0, MPI_COMM_WORLD);
    computed_ns = compute_for(compute_ns);
  } else {
    MPI_Recv(NULL, 0, MPI_BYTE, kTarget, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    fewest = turns = crowded_turns(run, span_ns, &longest_ns);
    end_ns = now_ns();
  }
  MPI_Allreduce(MPI_IN_PLACE, &turns, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &fewest, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &end_ns, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &longest_ns, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  check_turns(run, turns);
  const double left_out_ns = clock_cost_ns();
  run_says(run,
           "\"us\": %.4f, \"turns\": %llu, \"fewest\": %llu, \"longest_ms\": %.2f, "
           "\"overlaps\": %s",
           (span_ns / (double)turns - left_out_ns) / 1000, (unsigned long long)turns,
           (unsigned long long)fewest, longest_ns / 1e6, end_ns <= computed_ns ? "true" : "false");
}
