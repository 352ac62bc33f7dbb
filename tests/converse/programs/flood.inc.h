/* All PEs send much to all before any of them takes a message: nobody may stop. */
#include "program.inc.h"

enum { kMessages = 40, kBytes = 16000 };

typedef struct Heavy {
  char header[CmiMsgHeaderSizeBytes];
  int from, number;
  char bytes[kBytes];
} Heavy;

CpvDeclare(int, heavy_handler);
CpvDeclare(int, waves);
CpvDeclare(int, left);
CpvDeclare(int*, from_each);

static void send_all(void) {
  for (int number = 0; number < kMessages; ++number) {
    for (int pe = 0; pe < CmiNumPes(); ++pe) {
      Heavy* heavy = (Heavy*)CmiAlloc(sizeof(Heavy));
      heavy->from = CmiMyPe();
      heavy->number = number;
      fill_pattern(heavy->bytes, kBytes, heavy->from + number);
      CmiSetHandler(heavy, CpvAccess(heavy_handler));
      CmiSyncSendAndFree(pe, sizeof(Heavy), heavy);
    }
  }
}

static void on_heavy(void* message) {
  Heavy* heavy = (Heavy*)message;
  expect_pattern(heavy->bytes, kBytes, heavy->from + heavy->number, "heavy message");
  CpvAccess(from_each)[heavy->from] += 1;
  CmiFree(heavy);
  if (CpvAccess(waves) == 0) { /* the second wave is sent from within a handler */
    CpvAccess(waves) = 1;
    send_all();
  }
  if (--CpvAccess(left) > 0) return;
  for (int pe = 0; pe < CmiNumPes(); ++pe)
    expect_equal(CpvAccess(from_each)[pe], 2 * kMessages, "messages of one PE");
  finish_pe();
}

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  begin_program("flood");
  CpvInitialize(int, heavy_handler);
  CpvInitialize(int, waves);
  CpvInitialize(int, left);
  CpvInitialize(int*, from_each);
  CpvAccess(heavy_handler) = CmiRegisterHandler(on_heavy);
  CpvAccess(waves) = 0;
  CpvAccess(left) = 2 * kMessages * CmiNumPes();
  CpvAccess(from_each) = (int*)calloc((size_t)CmiNumPes(), sizeof(int));
  send_all();
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
