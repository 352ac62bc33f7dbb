/* Functions of each loop, and of a PE that stays idle, come again and again while nothing else
   happens; asked for once or kept. */
#include "all_done.h"

enum { TIMES = 3000 };

CpvStaticDeclare(int, loops);
CpvStaticDeclare(int, idles);
CpvStaticDeclare(int, loop_name);
CpvStaticDeclare(int, idle_name);

static void count_once(void* user, double time) {
  (void)user;
  (void)time;
  if (++CpvAccess(loops) < TIMES)
    CcdCallOnCondition(CcdSCHEDLOOP, count_once, NULL);
  else
    CsdExitScheduler();
}

static void count_loop(void* user, double time) {
  (void)user;
  (void)time;
  if (++CpvAccess(loops) < TIMES) return;
  CcdCancelCallOnConditionKeep(CcdSCHEDLOOP, CpvAccess(loop_name));
  CsdExitScheduler();
}

static void count_idle(void* user, double time) {
  (void)user;
  (void)time;
  if (++CpvAccess(idles) < TIMES) return;
  CcdCancelCallOnConditionKeep(CcdPROCESSOR_STILL_IDLE, CpvAccess(idle_name));
  CsdExitScheduler();
}

static double since(double began) { return CmiWallTimer() - began; }

static void start(int argc, char** argv) {
  double began;
  (void)argc;
  (void)argv;
  all_done_register();
  CpvInitialize(int, loops);
  CpvInitialize(int, idles);
  CpvInitialize(int, loop_name);
  CpvInitialize(int, idle_name);
  began = CmiWallTimer();
  CpvAccess(loops) = CpvAccess(idles) = 0;
  CcdCallOnCondition(CcdSCHEDLOOP, count_once, NULL);
  CsdScheduler(-1);
  CmiAssert(CpvAccess(loops) == TIMES);
  CpvAccess(loops) = 0;
  CpvAccess(loop_name) = CcdCallOnConditionKeep(CcdSCHEDLOOP, count_loop, NULL);
  CsdScheduler(-1);
  CmiAssert(CpvAccess(loops) == TIMES);
  CpvAccess(idle_name) = CcdCallOnConditionKeep(CcdPROCESSOR_STILL_IDLE, count_idle, NULL);
  CsdScheduler(-1);
  CmiAssert(CpvAccess(idles) == TIMES);
  CmiAssert(since(began) < 3); /* a sleep of 1 ms each is longer */
  all_done_say();
  CsdScheduler(-1);
  ConverseExit(0);
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 1, 0);
  return 0;
}
