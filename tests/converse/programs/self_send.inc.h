/* Each PE sends to itself: copies, its own messages, and the same message again and again. */
#include "program.inc.h"

enum { kCopies = 64, kHops = 500, kBytes = 96 };

typedef struct Letter {
  char header[CmiMsgHeaderSizeBytes];
  int number;
  char bytes[kBytes];
} Letter;

CpvDeclare(int, copy_handler);
CpvDeclare(int, hop_handler);
CpvDeclare(int, copies_seen);
CpvDeclare(int, hops_over);
CpvDeclare(char*, seen);

static void finish_if_ready(void) {
  if (CpvAccess(copies_seen) < 2 * kCopies || !CpvAccess(hops_over)) return;
  free(CpvAccess(seen));
  finish_pe();
}

static void on_copy(void* message) {
  Letter* letter = (Letter*)message;
  expect(letter->number >= 0 && letter->number < 2 * kCopies, "number of a copy");
  expect(!CpvAccess(seen)[letter->number], "a copy came twice");
  CpvAccess(seen)[letter->number] = 1;
  expect_pattern(letter->bytes, kBytes, letter->number, "copy");
  CmiFree(letter);
  CpvAccess(copies_seen) += 1;
  finish_if_ready();
}

static void on_hop(void* message) {
  Letter* letter = (Letter*)message;
  expect_pattern(letter->bytes, kBytes, 5, "message that hops");
  if (++letter->number < kHops) {
    CmiSyncSendAndFree(CmiMyPe(), sizeof(Letter), letter);
    return;
  }
  CmiFree(letter);
  CpvAccess(hops_over) = 1;
  finish_if_ready();
}

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  begin_program("self_send");
  CpvInitialize(int, copy_handler);
  CpvInitialize(int, hop_handler);
  CpvInitialize(int, copies_seen);
  CpvInitialize(int, hops_over);
  CpvInitialize(char*, seen);
  CpvAccess(copy_handler) = CmiRegisterHandler(on_copy);
  CpvAccess(hop_handler) = CmiRegisterHandler(on_hop);
  CpvAccess(copies_seen) = CpvAccess(hops_over) = 0;
  CpvAccess(seen) = (char*)calloc(2 * kCopies, 1);

  Letter* again = (Letter*)CmiAlloc(sizeof(Letter));
  CmiSetHandler(again, CpvAccess(copy_handler));
  for (int i = 0; i < kCopies; ++i) {
    again->number = i;
    fill_pattern(again->bytes, kBytes, i);
    CmiSyncSend(CmiMyPe(), sizeof(Letter), again); /* reusable at once */
    Letter* own = (Letter*)CmiAlloc(sizeof(Letter));
    own->number = kCopies + i;
    fill_pattern(own->bytes, kBytes, own->number);
    CmiSetHandler(own, CpvAccess(copy_handler));
    CmiSyncSendAndFree(CmiMyPe(), sizeof(Letter), own);
  }
  again->number = 0;
  fill_pattern(again->bytes, kBytes, 5);
  CmiSetHandler(again, CpvAccess(hop_handler));
  CmiSyncSendAndFree(CmiMyPe(), sizeof(Letter), again);
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
