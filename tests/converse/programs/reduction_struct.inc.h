/* Reductions of structures: the program says how one is packed, merged and freed. */
#include "program.inc.h"
#include "pup_c.h"

enum { kRounds = 10 };

typedef struct Histogram {
  int round;
  double weight;
  int count;
  int* bars; /* of one's own */
} Histogram;

CpvDeclare(int, made);
CpvDeclare(int, removed);
CpvDeclare(int, results);

static Histogram* new_histogram(int round, int count) {
  Histogram* histogram = (Histogram*)malloc(sizeof(Histogram));
  histogram->round = round;
  histogram->weight = 0.5;
  histogram->count = count;
  histogram->bars = (int*)calloc((size_t)count, sizeof(int));
  CpvAccess(made) += 1;
  return histogram;
}

static void remove_histogram(void* data) {
  Histogram* histogram = (Histogram*)data;
  free(histogram->bars);
  free(histogram);
  CpvAccess(removed) += 1;
}

static void pup_histogram(void* pup, void* data) {
  Histogram* histogram = (Histogram*)data;
  pup_er p = (pup_er)pup;
  pup_int(p, &histogram->round);
  pup_int(p, &histogram->count);
  pup_double(p, &histogram->weight);
  if (pup_isUnpacking(p)) histogram->bars = (int*)malloc((size_t)histogram->count * sizeof(int));
  pup_ints(p, histogram->bars, histogram->count);
}

/* Remote parts are packed. */
static void* merge_histograms(int* size, void* local, void** remote, int count) {
  Histogram* mine = (Histogram*)local;
  (void)size;
  for (int i = 0; i < count; ++i) {
    Histogram other;
    pup_er p = pup_new_fromMem(remote[i]);
    pup_histogram(p, &other);
    pup_destroy(p);
    expect_equal(other.round, mine->round, "parts of one reduction");
    expect_equal(other.count, mine->count, "bars of a part");
    mine->weight += other.weight;
    for (int bar = 0; bar < mine->count; ++bar) mine->bars[bar] += other.bars[bar];
    free(other.bars);
  }
  return mine;
}

static void on_histogram(void* data) {
  Histogram* histogram = (Histogram*)data;
  expect_equal(CmiMyPe(), 0, "the PE of the result");
  expect_equal(histogram->count, CmiNumPes() + histogram->round, "bars of the result");
  expect(histogram->weight == 0.5 * CmiNumPes(), "weight of the result");
  for (int bar = 0; bar < histogram->count; ++bar)
    expect_equal(histogram->bars[bar], bar < CmiNumPes() ? 1 + histogram->round : 0, "bar");
  free(histogram->bars);
  free(histogram);
  CpvAccess(results) += 1;
  expect(CpvAccess(results) <= kRounds, "more results than reductions");
  if (CpvAccess(results) == kRounds) finish_pe();
}

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  begin_program("reduction_struct");
  CpvInitialize(int, made);
  CpvInitialize(int, removed);
  CpvInitialize(int, results);
  CpvAccess(made) = CpvAccess(removed) = CpvAccess(results) = 0;
  for (int round = 0; round < kRounds; ++round) {
    Histogram* histogram = new_histogram(round, CmiNumPes() + round);
    histogram->bars[CmiMyPe()] = 1 + round;
    CmiReduceStruct(histogram, pup_histogram, merge_histograms, on_histogram, remove_histogram);
  }
  if (CmiMyPe() != 0) finish_pe();
}

/* What has gone up was removed; what stayed was given to its handler. */
static void run(int argc, char** argv) {
  start(argc, argv);
  CsdScheduler(-1);
  expect_equal(CpvAccess(made), kRounds, "structures made");
  expect_equal(CpvAccess(removed), CmiMyPe() == 0 ? 0 : kRounds, "structures removed");
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, run, 1, 0);
  return 0;
}
