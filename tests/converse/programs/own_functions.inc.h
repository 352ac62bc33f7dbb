/* PEs have functions of their own under one index: by their registration, by CmiNumberHandler(),
   and where only the receiver has that index. A reduction goes to the handler that PE 0 names. */
#include "program.inc.h"

enum { kOnlyThere = 40 };

typedef struct Call {
  char header[CmiMsgHeaderSizeBytes];
  int kind;
} Call;

CpvDeclare(int, by_registration);
CpvDeclare(int, by_number);
CpvDeclare(int, calls);

static void call(int to, int handler, int kind) {
  Call* one = (Call*)CmiAlloc(sizeof(Call));
  one->kind = kind;
  CmiSetHandler(one, handler);
  CmiSyncSendAndFree(to, sizeof(Call), one);
}

static void take(void* message, int kind) {
  expect_equal(((Call*)message)->kind, kind, "kind of a call");
  CmiFree(message);
  CpvAccess(calls) += 1;
  if (CpvAccess(calls) == (CmiMyPe() == 0 ? 3 * CmiNumPes() : 3)) finish_pe();
}

static void first_pe(void* message) { take(message, 1); }
static void other_pe(void* message) { take(message, 2); }
static void before(void* message) { (void)message, CmiAbort("the former function runs"); }
static void after(void* message) { take(message, 3); }
static void only_there(void* message) { take(message, 4); }
static void reduced(void* message) { take(message, 5); }

static void* first_one(int* size, void* local, void** remote, int count) {
  (void)size, (void)remote, (void)count;
  return local;
}

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  begin_program("own_functions");
  CpvInitialize(int, by_registration);
  CpvInitialize(int, by_number);
  CpvInitialize(int, calls);
  CpvAccess(calls) = 0;
  CpvAccess(by_registration) = CmiRegisterHandler(CmiMyPe() == 0 ? first_pe : other_pe);
  CpvAccess(by_number) = CmiRegisterHandler(before);
  if (CmiMyPe() == 0) CmiNumberHandler(CpvAccess(by_number), after);
  const int next = CpvAccess(by_number) + 1;
  if (CmiMyPe() == 0) expect_equal(CmiRegisterHandler(only_there), next, "index");
  /* PE 0 hears all; each of the others hears PE 0. */
  call(0, CpvAccess(by_registration), 1);
  call(0, CpvAccess(by_number), 3);
  if (CmiMyPe() != 0) {
    call(0, next, 4);
    call(CmiMyPe(), CpvAccess(by_registration), 2);
    call(CmiMyPe(), CpvAccess(by_registration), 2);
    call(CmiMyPe(), CpvAccess(by_registration), 2);
  }
  Call* part = (Call*)CmiAlloc(sizeof(Call));
  part->kind = 5;
  if (CmiMyPe() == 0) CmiSetHandler(part, CmiRegisterHandler(reduced));
  CmiReduce(part, sizeof(Call), first_one);
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
