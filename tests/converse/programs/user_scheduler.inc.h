/* The program runs the scheduler itself, (1, 0): for so many messages, until none is left, and
   until it is told to stop. */
#include "program.inc.h"

enum { kSteps = 30 };

typedef struct Step {
  char header[CmiMsgHeaderSizeBytes];
} Step;

CpvDeclare(int, step_handler);
CpvDeclare(int, greeting_handler);
CpvDeclare(int, stop_handler);
CpvDeclare(int, steps);
CpvDeclare(int, greetings);

static void on_step(void* message) {
  CmiFree(message);
  CpvAccess(steps) += 1;
}

/* Of other PEs, whenever they have come so far. */
static void on_greeting(void* message) {
  CmiFree(message);
  CpvAccess(greetings) += 1;
}

static void on_stop(void* message) {
  CmiFree(message);
  CsdExitScheduler();
}

static int all_run(void) { return CpvAccess(steps) + CpvAccess(greetings); }

static void enqueue(int handler) {
  Step* step = (Step*)CmiAlloc(sizeof(Step));
  CmiSetHandler(step, handler);
  CsdEnqueue(step);
}

static void count_messages(void) {
  CsdScheduler(0);
  expect_equal(CpvAccess(steps), 0, "steps before the first");
  for (int i = 0; i < kSteps; ++i) enqueue(CpvAccess(step_handler));
  for (int i = 0; i < 10; ++i) {
    const int before = all_run();
    expect_equal(CsdScheduler(1), 0, "messages that were not run of one");
    expect_equal(all_run(), before + 1, "messages that were run of one");
  }
  const int before = all_run();
  CsdScheduler(5);
  expect_equal(all_run(), before + 5, "messages that were run of five");
  CsdScheduler(0);
  expect_equal(CpvAccess(steps), kSteps, "steps when none is left");
  CsdScheduler(0);
  expect_equal(CpvAccess(steps), kSteps, "steps of an empty queue");
}

/* A run ends early when it is told to stop; what is left waits for the next. */
static void stop_early(void) {
  enqueue(CpvAccess(step_handler));
  enqueue(CpvAccess(stop_handler));
  enqueue(CpvAccess(step_handler));
  CsdScheduler(1000);
  expect_equal(CpvAccess(steps), kSteps + 1, "steps before the stop");
  CsdScheduler(0);
  expect_equal(CpvAccess(steps), kSteps + 2, "steps after the stop");
  enqueue(CpvAccess(stop_handler));
  enqueue(CpvAccess(step_handler));
  CsdScheduler(-1);
  expect_equal(CpvAccess(steps), kSteps + 2, "steps before the second stop");
  CsdScheduler(0);
  expect_equal(CpvAccess(steps), kSteps + 3, "steps after the second stop");
}

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  begin_program("user_scheduler");
  CpvInitialize(int, step_handler);
  CpvInitialize(int, greeting_handler);
  CpvInitialize(int, stop_handler);
  CpvInitialize(int, steps);
  CpvInitialize(int, greetings);
  CpvAccess(steps) = CpvAccess(greetings) = 0;
  CpvAccess(step_handler) = CmiRegisterHandler(on_step);
  CpvAccess(greeting_handler) = CmiRegisterHandler(on_greeting);
  CpvAccess(stop_handler) = CmiRegisterHandler(on_stop);
  count_messages();
  stop_early();

  Step* greeting = (Step*)CmiAlloc(sizeof(Step));
  CmiSetHandler(greeting, CpvAccess(greeting_handler));
  CmiSyncBroadcastAllAndFree(sizeof(Step), greeting);
  while (CpvAccess(greetings) < CmiNumPes()) CsdScheduler(1);
  finish_pe();
  CsdScheduler(-1);
  expect_equal(CpvAccess(greetings), CmiNumPes(), "greetings at the end");
  ConverseExit(0);
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 1, 0);
  CmiAbort("ConverseInit() returned");
  return 1;
}
