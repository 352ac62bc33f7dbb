/* Threads that another PE of the process awakens: each such call ends one suspension. */
#include "all_done.h"

enum { TIMES = 25 };

typedef struct Call {
  char header[CmiMsgHeaderSizeBytes];
  CthThread thread;
} Call;

CpvStaticDeclare(int, awaken_handler);

static int neighbour(void) {
  return CmiNodeFirst(CmiMyNode()) + (CmiMyRank() + 1) % CmiMyNodeSize();
}

static void awaken_there(void* message) {
  CthAwaken(((Call*)message)->thread);
  CmiFree(message);
}

static void waits(void* user) {
  int i;
  (void)user;
  for (i = 0; i < TIMES; ++i) {
    Call* const call = (Call*)CmiAlloc(sizeof(Call));
    call->thread = CthSelf();
    CmiSetHandler(call, CpvAccess(awaken_handler));
    CmiSyncSendAndFree(neighbour(), sizeof(Call), call);
    if (i % 2 != 0) CthYield(); /* it may come too early */
    CthSuspend();
  }
  all_done_say();
}

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  all_done_register();
  CpvInitialize(int, awaken_handler);
  CpvAccess(awaken_handler) = CmiRegisterHandler(awaken_there);
  CthAwaken(CthCreate(waits, NULL, 0));
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
