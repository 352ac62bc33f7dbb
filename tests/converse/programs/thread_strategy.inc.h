/* Threads in a queue of the program's, by CthSetStrategy(): last in, first out. */
#include "program.inc.h"

enum { kThreads = 6, kTurns = 5 };

CpvDeclare(CthThread*, stack);
CpvDeclare(int, height);
CpvDeclare(CthThread, outside);
CpvDeclare(int, turns);
CpvDeclare(int, ended);
CpvDeclare(int, awakened);

static void push(CthThreadToken* token, int strategy, int bits, unsigned int* priority) {
  (void)strategy;
  (void)bits;
  (void)priority;
  expect(CthGetToken(token->thread) == token, "token of a thread");
  CpvAccess(stack)[CpvAccess(height)++] = token->thread;
  CpvAccess(awakened) += 1;
}

static CthThread pop(void) {
  if (CpvAccess(height) == 0) return CpvAccess(outside);
  return CpvAccess(stack)[--CpvAccess(height)];
}

/* The one that yields is on top again at once: each takes all its turns before the one below. */
static void run_thread(void* user) {
  const int number = (int)(size_t)user;
  for (int turn = 0; turn < kTurns; ++turn) {
    expect_equal(CpvAccess(turns), (kThreads - 1 - number) * kTurns + turn, "turns");
    CpvAccess(turns) += 1;
    CthYield();
  }
  CpvAccess(ended) += 1;
}

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  begin_program("thread_strategy");
  CpvInitialize(CthThread*, stack);
  CpvInitialize(int, height);
  CpvInitialize(CthThread, outside);
  CpvInitialize(int, turns);
  CpvInitialize(int, ended);
  CpvInitialize(int, awakened);
  CpvAccess(height) = CpvAccess(turns) = CpvAccess(ended) = CpvAccess(awakened) = 0;
  CpvAccess(stack) = (CthThread*)malloc(kThreads * sizeof(CthThread));
  CpvAccess(outside) = CthSelf();
  for (int i = 0; i < kThreads; ++i) {
    CthThread thread = CthCreate(run_thread, (void*)(size_t)i, 0);
    CthSetStrategy(thread, push, pop);
    CthAwaken(thread);
  }
  expect_equal(CpvAccess(height), kThreads, "threads in the queue of the program");
  CthResume(pop()); /* until none is left: pop() then gives this one */
  expect_equal(CpvAccess(ended), kThreads, "threads that ended");
  expect_equal(CpvAccess(turns), kThreads * kTurns, "all turns");
  expect_equal(CpvAccess(awakened), kThreads * (kTurns + 1), "calls of the strategy");
  finish_pe();
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
