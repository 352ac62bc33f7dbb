/* One PE ends the whole job by CmiExit(5), whatever the others do (the argument says what). */
#include <converse.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

CpvStaticDeclare(int, pass_handler);
CpvStaticDeclare(int, has_left);
CpvStaticDeclare(int, passes);

static int is_last(void) { return CmiMyPe() == CmiNumPes() - 1; }

static void end_the_job(void) {
  CmiPrintf("ok job_exit\n");
  CmiExit(5);
  CmiAbort("CmiExit() has returned");
}

/* Messages that never end, to the PE that ends the job as well. */
static void pass_on(void* message) {
  if (is_last() && ++CpvAccess(passes) == 1000) end_the_job();
  CmiSyncSendAndFree((CmiMyPe() + 1) % CmiNumPes(), 4096, message);
}

static void begin_passes(void) {
  int i;
  for (i = 0; i < 8; ++i) {
    void* message = CmiAlloc(4096);
    memset(message, 0, 4096);
    CmiSetHandler(message, CpvAccess(pass_handler));
    CmiSyncSendAndFree((CmiMyPe() + 1) % CmiNumPes(), 4096, message);
  }
}

static void meet_for_ever(void) {
  int round;
  for (round = 0; !is_last() || round < 10; ++round) CmiBarrier();
  end_the_job();
}

static void yield_for_ever(void* unused) {
  (void)unused;
  for (;;) {
    CthYield();
    if (CpvAccess(has_left)) CmiAbort("a thread runs behind ConverseExit()");
  }
}

/* PE 0 leaves alone, with threads that are ready; the last one ends the job later. */
static void leave_with_threads(void) {
  int i;
  if (CmiMyPe() == 0) {
    for (i = 0; i < 3; ++i) CthAwaken(CthCreate(yield_for_ever, NULL, 0));
    CsdScheduler(10);
    CpvAccess(has_left) = 1;
    ConverseExit(0);
  }
  if (is_last()) CcdCallFnAfter((CcdVoidFn)end_the_job, NULL, 50);
}

/* The process is gone without a word. */
static void vanish(void) {
  if (CmiMyPe() == 0) _exit(0);
}

static void start(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "schedulers";
  CpvInitialize(int, pass_handler);
  CpvInitialize(int, has_left);
  CpvInitialize(int, passes);
  CpvAccess(passes) = CpvAccess(has_left) = 0;
  CpvAccess(pass_handler) = CmiRegisterHandler(pass_on);
  if (strcmp(what, "messages") == 0) {
    begin_passes();
  } else if (strcmp(what, "rounds") == 0) {
    meet_for_ever();
  } else if (strcmp(what, "threads") == 0) {
    leave_with_threads();
  } else if (strcmp(what, "vanish") == 0) {
    CmiBarrier();
    CcdCallFnAfter((CcdVoidFn)vanish, NULL, 20);
  } else if (strcmp(what, "all") == 0) {
    end_the_job();
  } else if (is_last()) {
    end_the_job();
  } else if (strcmp(what, "barrier") == 0 ||
             (strcmp(what, "first-in-barrier") == 0 && CmiMyPe() == 0) ||
             (strcmp(what, "others-in-barrier") == 0 && CmiMyPe() != 0)) {
    CmiBarrier();
  } else if (strcmp(what, "node-barrier") == 0 ||
             (strcmp(what, "ranks-in-barriers") == 0 && CmiMyRank() == 0)) {
    CmiNodeBarrier();
  } else if (strcmp(what, "ranks-in-barriers") == 0) {
    CmiBarrier();
  }
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 1;
}
