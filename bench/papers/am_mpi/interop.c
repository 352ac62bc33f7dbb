/* Active messages beside two-sided messages (section V-D, figure 7).
 *
 *   interop [--tiny]
 *
 * Three ranks ("third"): rank 1 has an exclusive epoch with x operations of 4 bytes on the window
 * of rank 0. Series with "+ptp": rank 2 sends messages to rank 0 all that while, in batches, and
 * rank 0 receives them. Else rank 2 sleeps, and rank 0 waits in MPI. Values: microseconds of the
 * epoch at its origin, the median.
 *
 * Two ranks ("latency"): they play ping-pong with messages of 8 bytes. x is how many operations a
 * second rank 1 has on the window of rank 0 meanwhile, each in an epoch of its own and between two
 * trips: 0 or 10,000. Values: nanoseconds one way; of rounds of some trips the median. A round is
 * the mean of two medians by their numbers of trips, of those right behind an operation and of the
 * others: who takes a core away for a while changes neither.
 *
 * There are up to kMostRounds rounds within kLimitS for each figure. Each message and each word is
 * checked.
 */
#include "am.h"

enum {
  kTag,
  kBegin,
  kEnd,
  kGo,
  kBatch = 16,
  kMostCount = 1024,
  kMostRounds = 101,
  kMostTrips = 2000,
  kLimitS = 3,
  kRate = 10000
};

typedef struct Run {
  int rank, rounds, said;
  long trips;
  int *words, from[kMostCount]; /* kKinds * kMostCount of the first */
  long done[kKinds];            /* rounds, or operations on word 0 */
  Operator with;
} Run;

static int64_t content_of(int64_t number) { return number * 7919 + 5; }

static void receive_checked(int from, int64_t number) {
  int64_t value = 0;
  MPI_Recv(&value, 1, MPI_INT64_T, from, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (value != content_of(number))
    fail("message %lld says %lld and should say %lld", (long long)number, (long long)value,
         (long long)content_of(number));
}

static void send_number(int to, int64_t number) {
  const int64_t value = content_of(number);
  MPI_Send(&value, 1, MPI_INT64_T, to, kTag, MPI_COMM_WORLD);
}

/* Receives until the origin has ended. */
static void be_target(int has_traffic) {
  int64_t number = 0;
  int goes_on = 1;
  if (!has_traffic) MPI_Send(NULL, 0, MPI_BYTE, 1, kBegin, MPI_COMM_WORLD);
  while (has_traffic && goes_on) {
    int has_ended = 0;
    for (int i = 0; i < kBatch; ++i) receive_checked(2, number++);
    if (number == kBatch) MPI_Send(NULL, 0, MPI_BYTE, 1, kBegin, MPI_COMM_WORLD);
    MPI_Iprobe(1, kEnd, MPI_COMM_WORLD, &has_ended, MPI_STATUS_IGNORE);
    goes_on = !has_ended;
    MPI_Send(&goes_on, 1, MPI_INT, 2, kGo, MPI_COMM_WORLD);
  }
  MPI_Recv(NULL, 0, MPI_BYTE, 1, kEnd, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void be_sender(void) {
  int64_t number = 0;
  for (int goes_on = 1; goes_on;) {
    for (int i = 0; i < kBatch; ++i) send_number(0, number++);
    MPI_Recv(&goes_on, 1, MPI_INT, 0, kGo, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static double be_origin(const Run* run, int kind, int count) {
  MPI_Recv(NULL, 0, MPI_BYTE, 0, kBegin, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const uint64_t start_ns = now_ns();
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, run->with.window);
  for (int i = 0; i < count; ++i)
    operate(&run->with, kind, &run->from[i], 1, kind * kMostCount + i);
  MPI_Win_unlock(0, run->with.window);
  const double us = ns_between(start_ns, now_ns()) / 1000;
  MPI_Send(NULL, 0, MPI_BYTE, 0, kEnd, MPI_COMM_WORLD);
  return us;
}

static double round_us(Run* run, int kind, int count, int has_traffic) {
  double us = 0;
  meet_asleep(MPI_COMM_WORLD);
  if (run->rank == 0) be_target(has_traffic);
  if (run->rank == 1) us = be_origin(run, kind, count);
  if (run->rank == 2 && has_traffic) be_sender();
  ++run->done[kind];
  meet_asleep(MPI_COMM_WORLD);
  MPI_Bcast(&us, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD);
  return us;
}

static void clear_words(Run* run) {
  memset(run->done, 0, sizeof run->done);
  if (run->rank == 0) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, run->with.window);
    memset(run->words, 0, kKinds * kMostCount * sizeof(int));
    MPI_Win_unlock(0, run->with.window);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void check_words(const Run* run, int kind, int count) {
  if (run->rank != 0) return;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, run->with.window);
  for (int i = 0; i < count; ++i) {
    const long found = run->words[kind * kMostCount + i], right = run->done[kind] * run->from[i];
    if (found != right)
      fail("%s: word %d is %ld and should be %ld", name_of(kind), i, found, right);
  }
  MPI_Win_unlock(0, run->with.window);
}

static void measure_third(Run* run, int count) {
  static const char* const kNames[kKinds][2] = {
      {"", ""}, {"accumulate", "accumulate+ptp"}, {"am", "am+ptp"}};
  for (int kind = kAccumulate; kind < kinds_here(); ++kind) {
    double samples_us[2][kMostRounds];
    const uint64_t begun_ns = now_ns();
    size_t rounds = 0;
    clear_words(run);
    do {
      for (int has_traffic = 0; has_traffic < 2; ++has_traffic)
        samples_us[has_traffic][rounds] = round_us(run, kind, count, has_traffic);
    } while (++rounds < (size_t)run->rounds && has_time(begun_ns, kLimitS));
    check_words(run, kind, count);
    for (int has_traffic = 0; run->rank == 0 && has_traffic < 2; ++has_traffic)
      say_point(&run->said, (Point){"third", kNames[kind][has_traffic], count,
                                    median_of(samples_us[has_traffic], rounds)});
  }
}

/* Trips of rank 1: those right behind an operation, and the others. */
typedef struct Trips {
  double ns[2][kMostTrips];
  size_t count[2];
} Trips;

static double mean_ns(Trips* trips) {
  double sum_ns = 0;
  for (int is_behind = 0; is_behind < 2; ++is_behind)
    if (trips->count[is_behind] != 0)
      sum_ns += (double)trips->count[is_behind] *
                median_of(trips->ns[is_behind], trips->count[is_behind]);
  return sum_ns / (double)(trips->count[0] + trips->count[1]);
}

static void operate_once(Run* run, int kind) {
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, run->with.window);
  operate(&run->with, kind, run->from, 1, kind * kMostCount);
  MPI_Win_unlock(0, run->with.window);
  ++run->done[kind];
}

static void answer_trips(long trips) {
  for (long trip = 0; trip < trips; ++trip) {
    receive_checked(1, trip);
    send_number(1, trip);
  }
}

/* Operations of that kind come between the trips; none for kPut. */
static double make_trips(Run* run, int kind) {
  static Trips trips;
  uint64_t last_ns = now_ns();
  trips.count[0] = trips.count[1] = 0;
  for (long trip = 0; trip < run->trips; ++trip) {
    const int is_behind = kind != kPut && ns_between(last_ns, now_ns()) >= 1e9 / kRate;
    if (is_behind) {
      last_ns = now_ns();
      operate_once(run, kind);
    }
    const uint64_t start_ns = now_ns();
    send_number(0, trip);
    receive_checked(0, trip);
    trips.ns[is_behind][trips.count[is_behind]++] = ns_between(start_ns, now_ns()) / 2;
  }
  return mean_ns(&trips);
}

static double way_ns(Run* run, int kind) {
  double ns = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (run->rank == 0)
    answer_trips(run->trips);
  else
    ns = make_trips(run, kind);
  MPI_Bcast(&ns, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD);
  MPI_Bcast(run->done, kKinds, MPI_LONG, 1, MPI_COMM_WORLD);
  return ns;
}

static void measure_latency(Run* run) {
  double found_ns[kKinds][kMostRounds];
  const uint64_t begun_ns = now_ns();
  size_t rounds = 0;
  clear_words(run);
  do {
    for (int kind = kPut; kind < kinds_here(); ++kind) found_ns[kind][rounds] = way_ns(run, kind);
  } while (++rounds < (size_t)run->rounds && has_time(begun_ns, kLimitS));
  for (int kind = kPut; kind < kinds_here(); ++kind) {
    if (kind != kPut) check_words(run, kind, 1);
    if (run->rank == 0)
      say_point(&run->said, (Point){"latency", kind == kPut ? "quiet" : name_of(kind),
                                    kind == kPut ? 0 : kRate, median_of(found_ns[kind], rounds)});
  }
}

int main(int argc, char** argv) {
  Run run = {0};
  int ranks = 0;
  MPI_Init(&argc, &argv);
  const int is_tiny = only_tiny(argc, argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  run.rank = this_rank(ranks == 2 ? 2 : 3);
  run.rounds = is_tiny ? 1 : kMostRounds;
  run.trips = is_tiny ? 200 : kMostTrips;
  for (int i = 0; i < kMostCount; ++i) run.from[i] = i + 1;
  MPI_Win_allocate(kKinds * kMostCount * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &run.words, &run.with.window);
  run.with.add = user_op(add_ints, run.with.window);
  const double before_ns = ping_ns();
  if (run.rank == 0) begin_points();
  if (ranks == 2) measure_latency(&run);
  for (int count = 1; ranks == 3 && count <= (is_tiny ? 4 : kMostCount); count *= 4)
    measure_third(&run, count);
  const double after_ns = ping_ns();
  if (run.rank == 0) end_points(before_ns, after_ns);
  free_op(&run.with.add);
  MPI_Win_free(&run.with.window);
  return MPI_Finalize();
}
