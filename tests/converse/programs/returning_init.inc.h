/* ConverseInit() returns, (1, 1), and main() goes on as the first PE of its process. */
#include "program.inc.h"

typedef struct Salute {
  char header[CmiMsgHeaderSizeBytes];
  int from;
} Salute;

CpvDeclare(int, greeting_handler);
CpvDeclare(int, greetings);
CpvDeclare(int, is_of_main);

static void on_greeting(void* message) {
  CmiFree(message);
  CpvAccess(greetings) += 1;
  if (CpvAccess(greetings) == CmiNumPes()) finish_pe();
}

static void set_up(void) {
  begin_program("returning_init");
  CpvInitialize(int, greeting_handler);
  CpvInitialize(int, greetings);
  CpvInitialize(int, is_of_main);
  CpvAccess(greetings) = 0;
  CpvAccess(greeting_handler) = CmiRegisterHandler(on_greeting);
  Salute* greeting = (Salute*)CmiAlloc(sizeof(Salute));
  greeting->from = CmiMyPe();
  CmiSetHandler(greeting, CpvAccess(greeting_handler));
  CmiSyncBroadcastAllAndFree(sizeof(Salute), greeting);
  CsdScheduler(-1);
  expect_equal(CpvAccess(greetings), CmiNumPes(), "greetings");
}

/* The other PEs of the process; when it returns, they exit. */
static void start(int argc, char** argv) {
  expect_equal(CmiGetArgc(argv), argc, "count of arguments");
  expect(CmiMyRank() > 0, "the start function ran on the PE of main()");
  set_up();
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 1, 1);
  expect_equal(CmiMyRank(), 0, "rank of main()");
  expect(CmiWallTimer() >= 0, "time");
  set_up();
  ConverseExit(0);
}
