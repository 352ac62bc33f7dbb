/* Locks and barriers: PEs of a process add to what they share, and meet again and again. */
#include "program.inc.h"

enum { kAdditions = 3000, kMeetings = 60 };

CsvDeclare(CmiNodeLock, lock);
CsvDeclare(int, sum);
CsvDeclare(int*, meetings); /* one of each PE of the process */

static void add_under_lock(void) {
  for (int i = 0; i < kAdditions; ++i) {
    if (i % 5 != 0 || CmiTryLock(CsvAccess(lock)) != 0) CmiLock(CsvAccess(lock));
    CsvAccess(sum) += 1;
    CmiUnlock(CsvAccess(lock));
  }
}

/* Between two barriers nobody writes, so that all may look. */
static void meet(int meeting) {
  CsvAccess(meetings)[CmiMyRank()] = meeting;
  CmiNodeBarrier();
  for (int rank = 0; rank < CmiMyNodeSize(); ++rank)
    expect_equal(CsvAccess(meetings)[rank], meeting, "meeting of a PE behind the barrier");
  CmiNodeAllBarrier();
}

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  begin_program("locks");
  CsvInitialize(CmiNodeLock, lock);
  CsvInitialize(int, sum);
  CsvInitialize(int*, meetings);
  if (CmiMyRank() == 0) {
    CsvAccess(lock) = CmiCreateLock();
    CsvAccess(sum) = 0;
    CsvAccess(meetings) = (int*)calloc((size_t)CmiMyNodeSize(), sizeof(int));
  }
  CmiNodeBarrier();
  add_under_lock();
  CmiNodeBarrier();
  expect_equal(CsvAccess(sum), kAdditions * CmiMyNodeSize(), "what all PEs added");
  for (int meeting = 1; meeting <= kMeetings; ++meeting) meet(meeting);
  /* Barriers of a process are no matter of the others: these make more of them. */
  for (int more = 0; more < CmiMyNode() % 3; ++more) {
    CmiNodeBarrier();
    CmiNodeAllBarrier();
  }
  if (CmiMyRank() == 0) {
    CmiLock(CsvAccess(lock));
    expect(CmiTryLock(CsvAccess(lock)) != 0, "a lock that is held was taken");
    CmiUnlock(CsvAccess(lock));
    CmiDestroyLock(CsvAccess(lock));
  }
  finish_pe();
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
