/* Handlers run the scheduler, down to some depth; CsdExitScheduler() ends all these runs. */
#include "program.inc.h"

enum { kDepth = 12, kSteps = 20 };

typedef struct Dive {
  char header[CmiMsgHeaderSizeBytes];
  int depth;
} Dive;

CpvDeclare(int, dive_handler);
CpvDeclare(int, step_handler);
CpvDeclare(int, depth);
CpvDeclare(int, steps);
CpvDeclare(int, runs_ended);

static void enqueue(int handler, int depth) {
  Dive* dive = (Dive*)CmiAlloc(sizeof(Dive));
  dive->depth = depth;
  CmiSetHandler(dive, handler);
  CsdEnqueue(dive);
}

static void on_step(void* message) {
  CmiFree(message);
  CpvAccess(steps) += 1;
}

/* Each runs in a scheduler that its predecessor runs. */
static void on_dive(void* message) {
  Dive* dive = (Dive*)message;
  const int depth = dive->depth;
  CmiFree(dive);
  expect_equal(CpvAccess(depth), depth, "depth");
  CpvAccess(depth) += 1;
  /* As many as there are; then so many; then until the end. */
  const int steps = CpvAccess(steps);
  const int ready = CpvAccess(finish_count); /* others may be ready already: messages, too */
  for (int i = 0; i < kSteps; ++i) enqueue(CpvAccess(step_handler), 0);
  CsdScheduler(kSteps / 2);
  expect_equal(CpvAccess(steps) + CpvAccess(finish_count), steps + ready + kSteps / 2,
               "messages of a nested run of so many");
  CsdScheduler(0);
  expect_equal(CpvAccess(steps), steps + kSteps, "steps of a nested run of all there are");
  if (depth + 1 < kDepth)
    enqueue(CpvAccess(dive_handler), depth + 1);
  else
    finish_pe(); /* its end is a message that runs in the innermost scheduler */
  CsdScheduler(-1);
  CpvAccess(runs_ended) += 1;
  expect_equal(CpvAccess(runs_ended), kDepth - depth, "runs that ended, from within");
}

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  begin_program("nested_schedulers");
  CpvInitialize(int, dive_handler);
  CpvInitialize(int, step_handler);
  CpvInitialize(int, depth);
  CpvInitialize(int, steps);
  CpvInitialize(int, runs_ended);
  CpvAccess(depth) = CpvAccess(steps) = CpvAccess(runs_ended) = 0;
  CpvAccess(dive_handler) = CmiRegisterHandler(on_dive);
  CpvAccess(step_handler) = CmiRegisterHandler(on_step);
  enqueue(CpvAccess(dive_handler), 0);
  CsdScheduler(-1);
  expect_equal(CpvAccess(runs_ended), kDepth, "runs that ended");
  expect_equal(CpvAccess(steps), kDepth * kSteps, "all steps");
  /* A run that begins after the end is not ended by it. */
  enqueue(CpvAccess(step_handler), 0);
  CsdScheduler(1);
  expect_equal(CpvAccess(steps), kDepth * kSteps + 1, "steps of a run after the end");
  ConverseExit(0);
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 1, 0);
  return 0;
}
