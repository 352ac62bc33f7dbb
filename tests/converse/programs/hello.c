/* Each PE sends PE 0 its number. PE 0 ends the job when it has heard of all. */
#include <converse.h>

typedef struct Hello {
  char header[CmiMsgHeaderSizeBytes];
  int pe;
} Hello;

CpvStaticDeclare(int, on_hello);
CpvStaticDeclare(int, on_end);
CpvStaticDeclare(int, heard);
CpvStaticDeclare(long, sum);

static void take_end(void* message) {
  CmiFree(message);
  CsdExitScheduler();
}

static void take_hello(void* message) {
  CpvAccess(sum) += ((Hello*)message)->pe;
  CmiFree(message);
  if (++CpvAccess(heard) != CmiNumPes()) return;
  long expected = (long)CmiNumPes() * (CmiNumPes() - 1) / 2;
  if (CpvAccess(sum) != expected) CmiAbort("the sum is %ld", CpvAccess(sum));
  CmiPrintf("ok hello\n");
  void* end = CmiAlloc(CmiMsgHeaderSizeBytes);
  CmiSetHandler(end, CpvAccess(on_end));
  CmiSyncBroadcastAllAndFree(CmiMsgHeaderSizeBytes, end);
}

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  CpvInitialize(int, on_hello);
  CpvInitialize(int, on_end);
  CpvInitialize(int, heard);
  CpvInitialize(long, sum);
  CpvAccess(on_hello) = CmiRegisterHandler(take_hello);
  CpvAccess(on_end) = CmiRegisterHandler(take_end);
  Hello hello;
  hello.pe = CmiMyPe();
  CmiInitMsgHeader(&hello, sizeof hello);
  CmiSetHandler(&hello, CpvAccess(on_hello));
  CmiSyncSend(0, sizeof hello, &hello);
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 1;
}
