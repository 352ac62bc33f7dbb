/* Functions that are called after some milliseconds, not earlier and once; and periodic ones. */
#include "program.inc.h"

enum { kTimers = 60, kLinks = 5, kPeriods = 3 };

typedef struct Alarm {
  double due; /* in seconds */
  int is_over;
} Alarm;

CpvDeclare(Alarm*, alarms);
CpvDeclare(int, alarms_left);
CpvDeclare(int, links);
CpvDeclare(int, periods);
CpvDeclare(double, link_due);
CpvDeclare(int, periodic);

static const double kEarly = 0.0005; /* who sets an alarm read the clock a little later */

static void finish_if_ready(void) {
  if (CpvAccess(alarms_left) > 0 || CpvAccess(links) < kLinks || CpvAccess(periods) < kPeriods)
    return;
  free(CpvAccess(alarms));
  finish_pe();
}

static void on_alarm(void* user) {
  Alarm* alarm = (Alarm*)user;
  expect(!alarm->is_over, "an alarm rang twice");
  expect(CmiWallTimer() >= alarm->due - kEarly, "an alarm rang early");
  alarm->is_over = 1;
  CpvAccess(alarms_left) -= 1;
  finish_if_ready();
}

/* Sets the next one itself; takes the time as well, as older programs do. */
static void on_link(void* user, double now) {
  expect(user == (void*)&CpvAccess(links), "argument of a timer");
  expect(CmiWallTimer() >= CpvAccess(link_due) - kEarly, "a link was early");
  expect(now <= CmiWallTimer() + kEarly && now >= CpvAccess(link_due) - kEarly, "time of a link");
  CpvAccess(links) += 1;
  CpvAccess(link_due) = CmiWallTimer() + 0.002;
  if (CpvAccess(links) < kLinks) CcdCallFnAfter((CcdVoidFn)on_link, user, 2);
  finish_if_ready();
}

static void on_period(void* user) {
  (void)user;
  if (CpvAccess(periods) == kPeriods) CmiAbort("a condition that was cancelled");
  CpvAccess(periods) += 1;
  if (CpvAccess(periods) < kPeriods) return;
  CcdCancelCallOnConditionKeep(CcdPERIODIC_10ms, CpvAccess(periodic));
  finish_if_ready();
}

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  begin_program("timers");
  CpvInitialize(Alarm*, alarms);
  CpvInitialize(int, alarms_left);
  CpvInitialize(int, links);
  CpvInitialize(int, periods);
  CpvInitialize(double, link_due);
  CpvInitialize(int, periodic);
  CpvAccess(alarms_left) = kTimers;
  CpvAccess(links) = CpvAccess(periods) = 0;
  unsigned state = (unsigned)CmiMyPe();
  Alarm* alarms = CpvAccess(alarms) = (Alarm*)calloc(kTimers, sizeof(Alarm));
  for (int i = 0; i < kTimers; ++i) {
    const int milliseconds = draw(&state, 40);
    alarms[i].due = CmiWallTimer() + milliseconds / 1000.0;
    CcdCallFnAfter((CcdVoidFn)on_alarm, &alarms[i], milliseconds);
  }
  CpvAccess(link_due) = CmiWallTimer() + 0.0015;
  CcdCallFnAfter((CcdVoidFn)on_link, &CpvAccess(links), 1.5);
  CpvAccess(periodic) = CcdCallOnConditionKeep(CcdPERIODIC_10ms, (CcdVoidFn)on_period, NULL);
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
