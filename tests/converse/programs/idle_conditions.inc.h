/* Conditions: idle and busy by turns, kept and once and cancelled, and those of the program. */
#include "program.inc.h"

enum { kIdleTimes = 8, kMostNudges = 2000 };

typedef struct Nudge {
  char header[CmiMsgHeaderSizeBytes];
} Nudge;

CpvDeclare(int, nudge_handler);
CpvDeclare(int, begun);
CpvDeclare(int, ended);
CpvDeclare(int, once);
CpvDeclare(int, cancelled);
CpvDeclare(int, raised);
CpvDeclare(int, nudges);
CpvDeclare(int, begin_name);
CpvDeclare(int, end_name);

static void on_begin(void* user) {
  (void)user;
  CpvAccess(begun) += 1;
  expect_equal(CpvAccess(begun), CpvAccess(ended) + 1, "idle times that began");
}

static void on_end(void* user) {
  (void)user;
  CpvAccess(ended) += 1;
  expect_equal(CpvAccess(ended), CpvAccess(begun), "idle times that ended");
}

static void add_one(void* user) { *(int*)user += 1; }

static void on_after(void* user) {
  (void)user;
  Nudge* nudge = (Nudge*)CmiAlloc(sizeof(Nudge));
  CmiSetHandler(nudge, CpvAccess(nudge_handler));
  CmiSyncSendAndFree(CmiMyPe(), sizeof(Nudge), nudge);
}

static void on_nudge(void* message) {
  CmiFree(message);
  expect_equal(CpvAccess(begun), CpvAccess(ended), "idle times while a handler runs");
  CpvAccess(nudges) += 1;
  if (CpvAccess(begun) < kIdleTimes) {
    expect(CpvAccess(nudges) < kMostNudges, "nobody says that this PE is idle");
    CcdCallFnAfter((CcdVoidFn)on_after, NULL, 2); /* idle until then, if it has its core */
    return;
  }
  expect_equal(CpvAccess(once), 1, "calls of a condition that is asked for once");
  expect_equal(CpvAccess(cancelled), 0, "calls of a condition that was cancelled");
  CcdCancelCallOnConditionKeep(CcdPROCESSOR_BEGIN_IDLE, CpvAccess(begin_name));
  CcdCancelCallOnConditionKeep(CcdPROCESSOR_END_IDLE, CpvAccess(end_name));
  finish_pe();
}

/* CcdUSER and above are for programs, which raise them themselves. */
static void raise_own(void) {
  const int kept = CcdCallOnConditionKeep(CcdUSER + 1, (CcdVoidFn)add_one, &CpvAccess(raised));
  CcdCallOnCondition(CcdUSER + 1, (CcdVoidFn)add_one, &CpvAccess(raised));
  CcdRaiseCondition(CcdUSER + 1);
  expect_equal(CpvAccess(raised), 2, "calls of a raised condition, kept and once");
  CcdRaiseCondition(CcdUSER + 1);
  CcdRaiseCondition(CcdUSER + 2);
  expect_equal(CpvAccess(raised), 3, "calls of a condition that is raised again");
  CcdCancelCallOnConditionKeep(CcdUSER + 1, kept);
  CcdRaiseCondition(CcdUSER + 1);
  expect_equal(CpvAccess(raised), 3, "calls of a condition whose function is gone");
}

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  begin_program("idle_conditions");
  CpvInitialize(int, nudge_handler);
  CpvInitialize(int, begun);
  CpvInitialize(int, ended);
  CpvInitialize(int, once);
  CpvInitialize(int, cancelled);
  CpvInitialize(int, raised);
  CpvInitialize(int, nudges);
  CpvInitialize(int, begin_name);
  CpvInitialize(int, end_name);
  CpvAccess(begun) = CpvAccess(ended) = CpvAccess(once) = CpvAccess(cancelled) = 0;
  CpvAccess(raised) = CpvAccess(nudges) = 0;
  CpvAccess(nudge_handler) = CmiRegisterHandler(on_nudge);
  raise_own();
  CpvAccess(begin_name) =
      CcdCallOnConditionKeep(CcdPROCESSOR_BEGIN_IDLE, (CcdVoidFn)on_begin, NULL);
  CpvAccess(end_name) = CcdCallOnConditionKeep(CcdPROCESSOR_END_IDLE, (CcdVoidFn)on_end, NULL);
  CcdCallOnCondition(CcdPROCESSOR_BEGIN_IDLE, (CcdVoidFn)add_one, &CpvAccess(once));
  const int gone =
      CcdCallOnCondition(CcdPROCESSOR_BEGIN_IDLE, (CcdVoidFn)add_one, &CpvAccess(cancelled));
  CcdCancelCallOnCondition(CcdPROCESSOR_BEGIN_IDLE, gone);
  CcdCallFnAfter((CcdVoidFn)on_after, NULL, 1);
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
