/* Ends a program when each PE has said that it is done. For one source file of a program. */
#pragma once

#include <converse.h>

CpvStaticDeclare(int, done_handler);
CpvStaticDeclare(int, leave_handler);
CpvStaticDeclare(int, dones);

static void all_done_leave(void* message) {
  CmiFree(message);
  CsdExitScheduler();
}

static void all_done_count(void* message) {
  if (++CpvAccess(dones) < CmiNumPes()) {
    CmiFree(message);
    return;
  }
  CmiPrintf("all PEs are done\n");
  CmiSetHandler(message, CpvAccess(leave_handler));
  CmiSyncBroadcastAllAndFree(CmiMsgHeaderSizeBytes, message);
}

/* By the start function of each PE. */
static void all_done_register(void) {
  CpvInitialize(int, done_handler);
  CpvInitialize(int, leave_handler);
  CpvInitialize(int, dones);
  CpvAccess(done_handler) = CmiRegisterHandler(all_done_count);
  CpvAccess(leave_handler) = CmiRegisterHandler(all_done_leave);
}

static void all_done_say(void) {
  void* message = CmiAlloc(CmiMsgHeaderSizeBytes);
  CmiSetHandler(message, CpvAccess(done_handler));
  CmiSyncSendAndFree(0, CmiMsgHeaderSizeBytes, message);
}
