/* Quiescence behind chains of messages over all PEs: when it is told, no hop is left. It is asked
   again from the function that hears of it, while new chains are under way. */
#include "all_done.h"

enum { CHAINS = 20, HOPS = 200, TIMES = 3 };

typedef struct Hop {
  char header[CmiMsgHeaderSizeBytes];
  int left;
  unsigned seed;
} Hop;

typedef struct Count {
  char header[CmiMsgHeaderSizeBytes];
  int hops;
} Count;

CpvStaticDeclare(int, hop_handler);
CpvStaticDeclare(int, ask_handler);
CpvStaticDeclare(int, sum_handler);
CpvStaticDeclare(int, hops);
CpvStaticDeclare(int, heard);
CpvStaticDeclare(int, times);
CpvStaticDeclare(int, go_handler);

static void hop(void* message) {
  Hop* const one = (Hop*)message;
  ++CpvAccess(hops);
  if (--one->left == 0) {
    CmiFree(message);
    return;
  }
  one->seed = one->seed * 1103515245u + 12345u;
  CmiSyncSendAndFree((int)((one->seed >> 16) % (unsigned)CmiNumPes()), sizeof(Hop), message);
}

static void begin_chains(void) {
  int i;
  for (i = 0; i < CHAINS; ++i) {
    Hop* const one = (Hop*)CmiAlloc(sizeof(Hop));
    one->left = HOPS;
    one->seed = (unsigned)(i * 7919 + CmiMyPe() + 1);
    CmiSetHandler(one, CpvAccess(hop_handler));
    CmiSyncSendAndFree((CmiMyPe() + 1) % CmiNumPes(), sizeof(Hop), one);
  }
}

static void* summed(int* size, void* local, void** remote, int count) {
  int i;
  (void)size;
  for (i = 0; i < count; ++i) ((Count*)local)->hops += ((Count*)remote[i])->hops;
  return local;
}

/* Each PE tells how many hops it has seen, and is done when that was the last time. */
static void tell_hops(void* message) {
  Count* const count = (Count*)CmiAlloc(sizeof(Count));
  CmiFree(message);
  count->hops = CpvAccess(hops);
  CmiSetHandler(count, CpvAccess(sum_handler));
  CmiReduce(count, sizeof(Count), summed);
  if (++CpvAccess(times) == TIMES) all_done_say();
}

static void tell_all(int handler) {
  void* const message = CmiAlloc(CmiMsgHeaderSizeBytes);
  CmiSetHandler(message, handler);
  CmiSyncBroadcastAllAndFree(CmiMsgHeaderSizeBytes, message);
}

static void hear(void* user) {
  CmiAssert(user == &CpvAccess(heard));
  tell_all(CpvAccess(ask_handler));
  if (++CpvAccess(heard) < TIMES) CmiStartQD(hear, user);
}

static void take_sum(void* message) {
  CmiAssert(((Count*)message)->hops == CpvAccess(heard) * CmiNumPes() * CHAINS * HOPS);
  CmiFree(message);
  if (CpvAccess(heard) < TIMES) tell_all(CpvAccess(go_handler));
}

static void go(void* message) {
  CmiFree(message);
  begin_chains();
}

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  all_done_register();
  CpvInitialize(int, hops);
  CpvInitialize(int, heard);
  CpvInitialize(int, times);
  CpvAccess(hop_handler) = CmiRegisterHandler(hop);
  CpvAccess(ask_handler) = CmiRegisterHandler(tell_hops);
  CpvAccess(sum_handler) = CmiRegisterHandler(take_sum);
  CpvAccess(go_handler) = CmiRegisterHandler(go);
  if (CmiMyPe() != 0) return;
  tell_all(CpvAccess(go_handler));
  CmiStartQD(hear, &CpvAccess(heard));
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
