/* Handlers and functions of timers that call CthSuspend(): each goes on by its own awakening, in
   any order, and what runs meanwhile is not counted by the scheduler around it. */
#include "all_done.h"

enum { CALLS = 5, STEP_MS = 4 };
enum {
  CALL,
  REQUEST,
  REPLY,
  WAIT,
  WAKE,
  GROUP,
  STEP,
  NESTED,
  RESUME,
  TWICE,
  ASK,
  COME,
  GO,
  HANDLERS
};

typedef struct Call {
  char header[CmiMsgHeaderSizeBytes];
  int from;
  int number;
  CthThread caller;
  int* reply;
} Call;

typedef struct Blocked {
  CthThread thread[2];
  CthThread named;
  int ready[2];
  int ended;
  int steps;
  int in_order;
  int resumed;
  int nested_runs;
  int have_come; /* on PE 0 */
  int may_go;
} Blocked;

CpvStaticDeclare(Blocked*, blocked);
CpvStaticDeclare(int, first_handler);

static int handler_of(int name) { return CpvAccess(first_handler) + name; }

static void post(int pe, int name, int number) {
  Call* const call = (Call*)CmiAlloc(sizeof(Call));
  call->from = CmiMyPe();
  call->number = number;
  CmiSetHandler(call, handler_of(name));
  CmiSyncSendAndFree(pe, sizeof(Call), call);
}

static void post_here(int name, int number) { post(CmiMyPe(), name, number); }

static int number_of(void* message) {
  const int number = ((Call*)message)->number;
  CmiFree(message);
  return number;
}

static int next_pe(void) { return (CmiMyPe() + 1) % CmiNumPes(); }

/* Until all PEs have come; each serves the others meanwhile. */
static void on_come(void* message) {
  if (++CpvAccess(blocked)->have_come < CmiNumPes()) {
    CmiFree(message);
    return;
  }
  CpvAccess(blocked)->have_come = 0;
  CmiSetHandler(message, handler_of(GO));
  CmiSyncBroadcastAllAndFree(sizeof(Call), message);
}

static void on_go(void* message) {
  CmiFree(message);
  CpvAccess(blocked)->may_go = 1;
}

static void meet(void) {
  post(0, COME, 0);
  while (!CpvAccess(blocked)->may_go) CsdScheduler(1);
  CpvAccess(blocked)->may_go = 0;
}

static void on_step(void* message) {
  CmiFree(message);
  ++CpvAccess(blocked)->steps;
}

/* Each call waits for its reply, and the one that began first has it first. */
static void on_call(void* message) {
  Blocked* const blocked = CpvAccess(blocked);
  const int number = number_of(message);
  int reply = -1;
  Call* const request = (Call*)CmiAlloc(sizeof(Call));
  CthThread const self = CthSelf();
  request->from = CmiMyPe();
  request->number = number;
  request->caller = self;
  request->reply = &reply;
  CmiSetHandler(request, handler_of(REQUEST));
  CmiSyncSendAndFree(next_pe(), sizeof(Call), request);
  CthSuspend();
  CmiAssert(reply == 10 * number);
  CmiAssert(CthSelf() == self);
  if (blocked->ended == number) ++blocked->in_order;
  ++blocked->ended;
}

static void send_reply(void* user, double time) {
  Call* const request = (Call*)user;
  (void)time;
  CmiSetHandler(request, handler_of(REPLY));
  CmiSyncSendAndFree(request->from, sizeof(Call), request);
}

static void on_request(void* message) {
  CcdCallFnAfter(send_reply, message, STEP_MS * (1 + ((Call*)message)->number));
}

static void on_reply(void* message) {
  const Call reply = *(Call*)message;
  CmiFree(message);
  *reply.reply = 10 * reply.number;
  CthAwaken(reply.caller);
}

static void each_call_has_its_reply(void) {
  Blocked* const blocked = CpvAccess(blocked);
  int i;
  blocked->ended = blocked->in_order = 0;
  for (i = 0; i < CALLS; ++i) post_here(CALL, i);
  while (blocked->ended < CALLS) CsdScheduler(1);
  CmiAssert(blocked->in_order == CALLS);
}

/* The first one that waits goes on first, and awakens the second one. */
static void on_wait(void* message) {
  Blocked* const blocked = CpvAccess(blocked);
  const int number = number_of(message);
  blocked->thread[number] = CthSelf();
  while (!blocked->ready[number]) CthSuspend();
  CmiAssert(blocked->ended == number);
  ++blocked->ended;
  if (number == 0) {
    blocked->ready[1] = 1;
    CthAwaken(blocked->thread[1]);
  }
}

static void on_wake(void* message) {
  Blocked* const blocked = CpvAccess(blocked);
  const int number = number_of(message);
  blocked->ready[number] = 1;
  CthAwaken(blocked->thread[number]);
}

static void wait_anew(void) {
  Blocked* const blocked = CpvAccess(blocked);
  blocked->ready[0] = blocked->ready[1] = blocked->ended = 0;
}

static void nobody_takes_the_awakening_of_another(void) {
  Blocked* const blocked = CpvAccess(blocked);
  wait_anew();
  post_here(WAIT, 0);
  post_here(WAIT, 1);
  post_here(WAKE, 0);
  while (blocked->ended < 2) CsdScheduler(1);
  CmiAssert(blocked->thread[0] != blocked->thread[1]);
}

/* Groups are messages of the library itself. */
static void wake_from_there(void* user, double time) {
  (void)time;
  post((int)(intptr_t)user, WAKE, 0);
}

static void on_group(void* message) {
  int pe = ((Call*)message)->from;
  CmiFree(message);
  CmiEstablishGroup(1, &pe);
  CmiEstablishGroup(1, &pe);
  CcdCallFnAfter(wake_from_there, (void*)(intptr_t)pe, STEP_MS);
}

static void what_runs_meanwhile_is_not_counted(void) {
  Blocked* const blocked = CpvAccess(blocked);
  int i;
  wait_anew();
  post(next_pe(), GROUP, 0);
  post_here(WAIT, 0);
  while (blocked->ended == 0) CmiAssert(CsdScheduler(1) == 0);
  blocked->steps = 0;
  for (i = 0; i < 3; ++i) post_here(STEP, 0);
  while (blocked->steps < 3) CmiAssert(CsdScheduler(1) == 0);
}

/* Three steps run inside of the first message, so the second one is the last of four. */
static void a_number_of_messages_is_that_of_its_own_run(void) {
  Blocked* const blocked = CpvAccess(blocked);
  int i;
  wait_anew();
  blocked->steps = 0;
  post_here(WAIT, 0);
  for (i = 0; i < 3; ++i) post_here(STEP, 0);
  post_here(WAKE, 0);
  CmiAssert(CmiDeliverMsgs(1) == 0);
  CmiAssert(blocked->ended == 1 && blocked->steps == 3);
}

/* The message that awakens it ends the scheduler, too. */
static void on_last(void* user, double time) {
  Blocked* const blocked = CpvAccess(blocked);
  (void)user;
  (void)time;
  blocked->thread[0] = CthSelf();
  while (!blocked->ready[0]) CthSuspend();
  ++blocked->ended;
}

static void wake_and_end(void* user, double time) {
  (void)user;
  (void)time;
  CpvAccess(blocked)->ready[0] = 1;
  CthAwaken(CpvAccess(blocked)->thread[0]);
  CsdExitScheduler();
}

static void an_end_inside_of_a_timer_is_heeded(void) {
  Blocked* const blocked = CpvAccess(blocked);
  wait_anew();
  CcdCallFnAfter(on_last, NULL, 1);
  CcdCallFnAfter(wake_and_end, NULL, STEP_MS);
  CsdScheduler(-1);
  CmiAssert(blocked->ended == 1);
}

/* The handler that waits goes on though others run the scheduler above it. */
static void on_nested(void* message) {
  Blocked* const blocked = CpvAccess(blocked);
  const int number = number_of(message);
  post_here(number != 0 ? NESTED : WAKE, number != 0 ? number - 1 : 0);
  while (number == 0 && blocked->ended == 0) CsdScheduler(0);
  if (number != 0) CsdScheduler(-1);
  ++blocked->nested_runs;
}

static void schedulers_inside_make_way(void) {
  Blocked* const blocked = CpvAccess(blocked);
  wait_anew();
  blocked->nested_runs = 0;
  post_here(WAIT, 0);
  post_here(NESTED, 2);
  while (blocked->ended == 0) CsdScheduler(1);
  CmiAssert(blocked->nested_runs == 0);
  CsdExitScheduler(); /* theirs are under way, though none of them has its turn */
  while (blocked->nested_runs < 3) CsdScheduler(1);
}

/* A handler resumes threads while another one waits; the last of them names the handler. */
static CthThread name_handler(void) { return CpvAccess(blocked)->named; }

static void is_resumed(void* user) {
  (void)user;
  ++CpvAccess(blocked)->resumed;
  CthSuspend();
  ++CpvAccess(blocked)->resumed;
}

static void on_resume(void* message) {
  Blocked* const blocked = CpvAccess(blocked);
  CthThread const thread = CthCreate(is_resumed, NULL, 0);
  CmiFree(message);
  CmiAssert(!CthIsMainThread(CthSelf()));
  blocked->named = CthSelf();
  CthSetStrategy(thread, NULL, name_handler);
  CthResume(thread);
  CmiAssert(blocked->resumed == 1);
  CthResume(thread);
  CmiAssert(blocked->resumed == 2);
  CthYield();
  CmiAssert(CthSelf() == blocked->named);
  post_here(WAKE, 0);
}

static void handlers_resume_threads_meanwhile(void) {
  Blocked* const blocked = CpvAccess(blocked);
  wait_anew();
  blocked->resumed = 0;
  post_here(WAIT, 0);
  post_here(RESUME, 0);
  while (blocked->ended == 0) CsdScheduler(1);
  CmiAssert(blocked->resumed == 2);
}

/* Handlers wait for quiescence: one on the stack of the PE, and one beside it. */
static void on_quiet(void* user) { CthAwaken((CthThread)user); }

static void on_ask(void* message) {
  CmiFree(message);
  CmiStartQD(on_quiet, CthSelf());
  CthSuspend();
  ++CpvAccess(blocked)->ended;
}

static void quiescence_does_not_wait_for_handlers_that_wait(void) {
  Blocked* const blocked = CpvAccess(blocked);
  int round;
  for (round = 0; round < 2; ++round) {
    blocked->ended = 0;
    post_here(ASK, 0);
    post_here(ASK, 0);
    while (blocked->ended < 2) CsdScheduler(1);
  }
}

/* An awakening too many is none of the handler that runs next on the same stack. */
static void on_twice(void* message) {
  Blocked* const blocked = CpvAccess(blocked);
  const int number = number_of(message);
  if (number == 0) {
    CthAwaken(CthSelf());
    CthAwaken(CthSelf());
    CthSuspend();
    post_here(TWICE, 1);
    return;
  }
  blocked->thread[1] = CthSelf();
  post_here(WAKE, 1);
  CthSuspend();
  CmiAssert(blocked->ready[1]);
  post_here(WAKE, 0);
}

static void awakenings_that_are_left_are_dropped(void) {
  Blocked* const blocked = CpvAccess(blocked);
  wait_anew();
  post_here(WAIT, 0);
  post_here(TWICE, 0);
  while (blocked->ended == 0) CsdScheduler(1);
}

static void register_handlers(void) {
  static const CmiHandler handlers[HANDLERS] = {
      on_call,   on_request, on_reply, on_wait, on_wake, on_group, on_step,
      on_nested, on_resume,  on_twice, on_ask,  on_come, on_go};
  int i;
  CpvInitialize(int, first_handler);
  CpvAccess(first_handler) = CmiRegisterHandler(handlers[0]);
  for (i = 1; i < HANDLERS; ++i) CmiRegisterHandler(handlers[i]);
}

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  all_done_register();
  CpvInitialize(Blocked*, blocked);
  CpvAccess(blocked) = (Blocked*)calloc(1, sizeof(Blocked));
  register_handlers();
  meet();
  each_call_has_its_reply();
  meet();
  nobody_takes_the_awakening_of_another();
  meet();
  what_runs_meanwhile_is_not_counted();
  meet();
  a_number_of_messages_is_that_of_its_own_run();
  CmiBarrier(); /* nobody's message comes into that number */
  an_end_inside_of_a_timer_is_heeded();
  schedulers_inside_make_way();
  handlers_resume_threads_meanwhile();
  awakenings_that_are_left_are_dropped();
  meet();
  quiescence_does_not_wait_for_handlers_that_wait();
  meet();
  all_done_say();
  CsdScheduler(-1);
  free(CpvAccess(blocked));
  ConverseExit(0);
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 1, 0);
  return 0;
}
