/* Reductions over processes, by value and by structure: one PE of each process contributes. */
#include "program.inc.h"
#include "pup_c.h"

enum { kRounds = 12 };

typedef struct Count {
  char header[CmiMsgHeaderSizeBytes];
  int round, nodes, sum;
} Count;

typedef struct Pair {
  int round, nodes, sum;
} Pair;

CpvDeclare(int, count_handler);
CsvDeclare(int, results);
CsvDeclare(CmiNodeLock, lock);

/* Any PE of the first process may get it. */
static void one_result(int round, int nodes, int sum) {
  expect_equal(CmiMyNode(), 0, "the process of the result");
  expect(round >= 0 && round < kRounds, "round of the result");
  expect_equal(nodes, CmiNumNodes(), "processes in the result");
  expect_equal(sum, CmiNumNodes() * (CmiNumNodes() - 1) / 2 + round * CmiNumNodes(), "sum");
  CmiLock(CsvAccess(lock));
  const int results = CsvAccess(results) += 1;
  CmiUnlock(CsvAccess(lock));
  expect(results <= 2 * kRounds, "more results than reductions");
  if (results == 2 * kRounds) finish_pe();
}

static void on_count(void* message) {
  Count* count = (Count*)message;
  one_result(count->round, count->nodes, count->sum);
  CmiFree(count);
}

static void on_pair(void* data) {
  Pair* pair = (Pair*)data;
  one_result(pair->round, pair->nodes, pair->sum);
  free(pair);
}

static void* merge_counts(int* size, void* local, void** remote, int count) {
  Count* mine = (Count*)local;
  expect_equal(*size, sizeof(Count), "size of the local part");
  for (int i = 0; i < count; ++i) {
    const Count* other = (const Count*)remote[i];
    expect_equal(other->round, mine->round, "parts of one reduction");
    mine->nodes += other->nodes;
    mine->sum += other->sum;
  }
  return mine;
}

static void pup_pair(void* pup, void* data) {
  Pair* pair = (Pair*)data;
  pup_int((pup_er)pup, &pair->round);
  pup_int((pup_er)pup, &pair->nodes);
  pup_int((pup_er)pup, &pair->sum);
}

/* Packed ints lie one behind the other. */
static void* merge_pairs(int* size, void* local, void** remote, int count) {
  Pair* mine = (Pair*)local;
  (void)size;
  for (int i = 0; i < count; ++i) {
    int packed[3];
    memcpy(packed, remote[i], sizeof packed);
    expect_equal(packed[0], mine->round, "packed parts of one reduction");
    mine->nodes += packed[1];
    mine->sum += packed[2];
  }
  return mine;
}

static void contribute(int round) {
  Count* count = (Count*)CmiAlloc(sizeof(Count));
  count->round = round;
  count->nodes = 1;
  count->sum = CmiMyNode() + round;
  CmiSetHandler(count, CpvAccess(count_handler));
  CmiNodeReduce(count, sizeof(Count), merge_counts);
  Pair* pair = (Pair*)malloc(sizeof(Pair));
  pair->round = round;
  pair->nodes = 1;
  pair->sum = CmiMyNode() + round;
  CmiNodeReduceStruct(pair, pup_pair, merge_pairs, on_pair, free);
}

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  begin_program("node_reduction");
  CpvInitialize(int, count_handler);
  CsvInitialize(int, results);
  CsvInitialize(CmiNodeLock, lock);
  CpvAccess(count_handler) = CmiRegisterHandler(on_count);
  if (CmiMyRank() == 0) {
    CsvAccess(results) = 0;
    CsvAccess(lock) = CmiCreateLock();
  }
  CmiNodeBarrier();
  /* First by the first PE of each process, then by the last one. */
  if (CmiMyRank() == 0)
    for (int round = 0; round < kRounds / 2; ++round) contribute(round);
  CmiNodeBarrier();
  if (CmiMyRank() == CmiMyNodeSize() - 1)
    for (int round = kRounds / 2; round < kRounds; ++round) contribute(round);
  if (CmiMyPe() != 0) finish_pe();
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
