/* Threads that yield in both ways, keep what is on their stacks, and take turns. */
#include "program.inc.h"

enum { kThreads = 12, kTurns = 40, kDeep = 60000 };

CpvDeclare(int, turns);
CpvDeclare(int, ended);
CpvDeclare(CthThread*, handles);
CtvDeclare(int, number);
CtvDeclare(double, sum);

/* Uses most of a stack of 128 KiB, and looks whether others wrote into it. */
static void use_stack(int number) {
  char deep[kDeep];
  fill_pattern(deep, kDeep, number);
  CthYield();
  expect_pattern(deep, kDeep, number, "stack of a thread");
}

static void take_turn(int number, int turn) {
  /* All are made ready in their order, so they run in this order, again and again. */
  expect_equal(CpvAccess(turns), turn * kThreads + number, "turns");
  CpvAccess(turns) += 1;
  expect(CthSelf() == CpvAccess(handles)[number], "the thread that runs");
  expect_equal(CtvAccess(number), turn == 0 ? 0 : number + 1, "variable of the thread");
  CtvAccess(number) = number + 1;
  CtvAccess(sum) += 0.5;
  if (turn % 2 == 0) {
    CthYield();
  } else {
    CthAwaken(CthSelf());
    CthSuspend();
  }
}

static void run_thread(void* user) {
  const int number = (int)(size_t)user;
  int turn = 0;
  for (; turn < kTurns; ++turn) take_turn(number, turn);
  expect(CtvAccess(sum) == 0.5 * kTurns, "sum of the thread");
  use_stack(number);
  CpvAccess(ended) += 1;
  if (CpvAccess(ended) == kThreads) finish_pe();
}

static void never(void* user) {
  (void)user;
  CmiAbort("a thread ran that was freed before it was awakened");
}

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  begin_program("threads");
  CpvInitialize(int, turns);
  CpvInitialize(int, ended);
  CpvInitialize(CthThread*, handles);
  CtvInitialize(int, number);
  CtvInitialize(double, sum);
  CpvAccess(turns) = CpvAccess(ended) = 0;
  CpvAccess(handles) = (CthThread*)malloc(kThreads * sizeof(CthThread));
  CtvAccess(number) = 77; /* of the PE itself */
  for (int i = 0; i < kThreads; ++i) {
    CpvAccess(handles)[i] = CthCreate((CthVoidFn)run_thread, (void*)(size_t)i, 128 << 10);
    CthFree(CthCreate(never, NULL, 0));
  }
  for (int i = 0; i < kThreads; ++i) CthAwaken(CpvAccess(handles)[i]);
  expect(CthSelf() != NULL, "the thread of the PE");
  expect_equal(CpvAccess(turns), 0, "turns while the start function runs");
  expect_equal(CtvAccess(number), 77, "variable of the PE");
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
