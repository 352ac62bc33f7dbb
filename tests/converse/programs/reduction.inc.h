/* Reductions by value: sums, a list that grows on its way up, and many under way at once. */
#include "program.inc.h"

enum { kSums = 40 };

typedef struct Sum {
  char header[CmiMsgHeaderSizeBytes];
  int index;
  CmiInt8 total;
  int least, most;
} Sum;

typedef struct List {
  char header[CmiMsgHeaderSizeBytes];
  int count; /* PEs, each with its number of copies of itself */
} List;

CpvDeclare(int, sum_handler);
CpvDeclare(int, list_handler);
CpvDeclare(int, late_handler);
CpvDeclare(int, sums_seen);
CpvDeclare(int, list_seen);

static void* merge_sums(int* size, void* local, void** remote, int count) {
  Sum* mine = (Sum*)local;
  expect_equal(*size, sizeof(Sum), "size of the local part");
  for (int i = 0; i < count; ++i) {
    const Sum* other = (const Sum*)remote[i];
    expect_equal(other->index, mine->index, "parts of one reduction");
    mine->total += other->total;
    if (other->least < mine->least) mine->least = other->least;
    if (other->most > mine->most) mine->most = other->most;
  }
  return mine;
}

/* Returns a message of its own, which is larger. */
static void* merge_lists(int* size, void* local, void** remote, int count) {
  int total = ((List*)local)->count;
  for (int i = 0; i < count; ++i) total += ((List*)remote[i])->count;
  *size = (int)(sizeof(List) + (size_t)total * sizeof(int));
  List* merged = (List*)CmiAlloc(*size);
  CmiSetHandler(merged, CmiGetHandler(local));
  merged->count = 0;
  for (int i = -1; i < count; ++i) {
    List* part = i < 0 ? (List*)local : (List*)remote[i];
    memcpy((int*)(merged + 1) + merged->count, part + 1, (size_t)part->count * sizeof(int));
    merged->count += part->count;
  }
  CmiFree(local);
  return merged;
}

static void finish_if_ready(void) {
  if (CpvAccess(sums_seen) == kSums && CpvAccess(list_seen)) finish_pe();
}

static void on_sum(void* message) {
  Sum* sum = (Sum*)message;
  const CmiInt8 pes = CmiNumPes();
  expect_equal(CmiMyPe(), 0, "the PE of the result");
  expect_equal(sum->total, pes * (pes - 1) / 2 + pes * sum->index, "sum");
  expect_equal(sum->least, sum->index, "least");
  expect_equal(sum->most, sum->index + CmiNumPes() - 1, "most");
  CmiFree(sum);
  CpvAccess(sums_seen) += 1;
  expect(CpvAccess(sums_seen) <= kSums, "more sums than reductions");
  finish_if_ready();
}

static void on_list(void* message) {
  List* list = (List*)message;
  const int pes = CmiNumPes();
  const int* numbers = (const int*)(list + 1);
  int* had = (int*)calloc((size_t)pes, sizeof(int));
  expect_equal(CmiMyPe(), 0, "the PE of the list");
  expect_equal(list->count, pes * (pes + 1) / 2, "length of the list");
  for (int i = 0; i < list->count; ++i) had[numbers[i]] += 1;
  for (int pe = 0; pe < pes; ++pe) expect_equal(had[pe], pe + 1, "copies of a PE in the list");
  free(had);
  CmiFree(list);
  CpvAccess(list_seen) = 1;
  finish_if_ready();
}

static void contribute_sum(int index) {
  Sum* sum = (Sum*)CmiAlloc(sizeof(Sum));
  sum->index = index;
  sum->total = sum->least = sum->most = CmiMyPe() + index;
  CmiSetHandler(sum, CpvAccess(sum_handler));
  CmiReduce(sum, sizeof(Sum), merge_sums);
}

static void contribute_list(void) {
  const int count = CmiMyPe() + 1;
  const int size = (int)(sizeof(List) + (size_t)count * sizeof(int));
  List* list = (List*)CmiAlloc(size);
  list->count = count;
  for (int i = 0; i < count; ++i) ((int*)(list + 1))[i] = CmiMyPe();
  CmiSetHandler(list, CpvAccess(list_handler));
  CmiReduce(list, size, merge_lists);
}

/* The second half is contributed by a handler: PEs are at different places of their sequences. */
static void on_late(void* message) {
  CmiFree(message);
  contribute_list();
  for (int index = kSums / 2; index < kSums; ++index) contribute_sum(index);
  if (CmiMyPe() != 0) finish_pe();
}

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  begin_program("reduction");
  CpvInitialize(int, sum_handler);
  CpvInitialize(int, list_handler);
  CpvInitialize(int, late_handler);
  CpvInitialize(int, sums_seen);
  CpvInitialize(int, list_seen);
  CpvAccess(sums_seen) = CpvAccess(list_seen) = 0;
  CpvAccess(sum_handler) = CmiRegisterHandler(on_sum);
  CpvAccess(list_handler) = CmiRegisterHandler(on_list);
  CpvAccess(late_handler) = CmiRegisterHandler(on_late);
  for (int index = 0; index < kSums / 2; ++index) contribute_sum(index);
  void* late = CmiAlloc(CmiMsgHeaderSizeBytes);
  CmiSetHandler(late, CpvAccess(late_handler));
  CmiSyncSendAndFree(CmiMyPe(), CmiMsgHeaderSizeBytes, late);
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
