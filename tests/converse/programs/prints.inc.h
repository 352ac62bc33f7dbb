/* Every PE prints lines, and all exit by a broadcast whose handler calls ConverseExit(). */
#include "program.inc.h"

enum { kLines = 5 };

CpvDeclare(int, exit_handler);
CpvDeclare(int, printed_handler);
CpvDeclare(int, printed);

static void on_exit_message(void* message) {
  CmiFree(message);
  ConverseExit(0);
}

static void on_printed(void* message) {
  CpvAccess(printed) += 1;
  if (CpvAccess(printed) < CmiNumPes()) {
    CmiFree(message);
    return;
  }
  CmiPrintf("ok prints\n");
  CmiSetHandler(message, CpvAccess(exit_handler));
  CmiSyncBroadcastAllAndFree(CmiMsgHeaderSizeBytes, message);
}

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  CpvInitialize(int, exit_handler);
  CpvInitialize(int, printed_handler);
  CpvInitialize(int, printed);
  CpvAccess(printed) = 0;
  CpvAccess(exit_handler) = CmiRegisterHandler(on_exit_message);
  CpvAccess(printed_handler) = CmiRegisterHandler(on_printed);
  for (int line = 0; line < kLines; ++line) {
    CmiPrintf("hello %d from PE %d of %d: %s\n", line, CmiMyPe(), CmiNumPes(),
              "a line that is long enough to be torn where several write at once");
    CmiError("warning %d from PE %d\n", line, CmiMyPe());
  }
  void* printed = CmiAlloc(CmiMsgHeaderSizeBytes);
  CmiSetHandler(printed, CpvAccess(printed_handler));
  CmiSyncSendAndFree(0, CmiMsgHeaderSizeBytes, printed);
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
