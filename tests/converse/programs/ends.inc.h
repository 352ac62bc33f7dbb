/* Ends in the way that the first argument names; see programs_end_test.cpp. */
#include "program.inc.h"

CpvDeclare(int, end_handler);
CpvDeclare(const char*, way);

static int is_way(const char* name) { return strcmp(CpvAccess(way), name) == 0; }

static void end_now(void) {
  if (is_way("exit-3")) ConverseExit(3);
  if (is_way("exit-0")) ConverseExit(0);
  if (is_way("exit")) ConverseExit();
  if (is_way("scheduler")) CsdExitScheduler();
}

static void on_end(void* message) {
  CmiFree(message);
  const int is_last = CmiMyPe() == CmiNumPes() - 1;
  if (is_way("abort") && is_last)
    CmiAbort("PE %d gives up: %s", CmiMyPe(), "the words of the program");
  if (is_way("assert") && is_last) CmiAssert(CmiNumPes() == -1);
  CmiAssert(CmiNumPes() > 0);
  end_now();
}

/* From a thread, for the ways that are about it. */
static void end_in_thread(void* user) { on_end(user); }

static void start(int argc, char** argv) {
  expect(argc > 1, "name a way to end");
  CpvInitialize(int, end_handler);
  CpvInitialize(const char*, way);
  CpvAccess(way) = argv[1];
  CpvAccess(end_handler) = CmiRegisterHandler(on_end);
  if (is_way("exit-in-start")) {
    CmiPrintf("PE %d ends\n", CmiMyPe());
    ConverseExit(0);
  }
  if (argc > 2 && strcmp(argv[2], "thread") == 0) {
    void* message = CmiAlloc(CmiMsgHeaderSizeBytes);
    CthAwaken(CthCreate(end_in_thread, message, 0));
    return;
  }
  if (CmiMyPe() != 0) return;
  void* message = CmiAlloc(CmiMsgHeaderSizeBytes);
  CmiSetHandler(message, CpvAccess(end_handler));
  CmiSyncBroadcastAllAndFree(CmiMsgHeaderSizeBytes, message);
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
