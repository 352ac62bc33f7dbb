/* A program that has a queue of threads of its own, with a thread that chooses from it; strategies
   that use tokens as messages; ends of threads. Each PE does it all by itself. */
#include "all_done.h"

enum { WORKERS = 50, ROUNDS = 20 };

/* Threads that are ready, in the order in which they were awakened. */
typedef struct Ready {
  CthThread first, last;
  CthThread chooser;
  int strategies[3]; /* how often each kind of priority was seen: none, int, other */
  int steps;
  int over;
} Ready;

CpvStaticDeclare(Ready*, ready);

static void push_ready(CthThread thread) {
  Ready* const ready = CpvAccess(ready);
  CthSetNext(thread, NULL);
  if (ready->first == NULL)
    ready->first = thread;
  else
    CthSetNext(ready->last, thread);
  ready->last = thread;
}

static CthThread pop_ready(void) {
  Ready* const ready = CpvAccess(ready);
  CthThread const thread = ready->first;
  if (thread != NULL) ready->first = CthGetNext(thread);
  return thread;
}

static void awaken_own(CthThreadToken* token, int strategy, int bits, unsigned int* priority) {
  Ready* const ready = CpvAccess(ready);
  if (strategy == CQS_QUEUEING_FIFO) {
    CmiAssert(bits == 0);
    ++ready->strategies[0];
  } else if (strategy == CQS_QUEUEING_IFIFO) {
    CmiAssert(bits == 32 && *priority == 77);
    ++ready->strategies[1];
  } else {
    ++ready->strategies[2];
  }
  push_ready(token->thread);
}

static CthThread choose_chooser(void) { return CpvAccess(ready)->chooser; }

static void worker(void* user) {
  unsigned int priority = 77;
  int i;
  for (i = 0; i < ROUNDS; ++i) {
    const int before = CpvAccess(ready)->steps;
    CmiAssert(before == (int)(intptr_t)user + i * WORKERS);
    ++CpvAccess(ready)->steps;
    if (i % 2 == 0)
      CthYield();
    else
      CthYieldPrio(CQS_QUEUEING_IFIFO, 32, &priority);
  }
  ++CpvAccess(ready)->over;
}

/* Its own strategy is the usual one. It runs who is ready; each of them comes back to it. */
static void chooser(void* user) {
  CthThread const waiter = (CthThread)user;
  CthThread next;
  CmiAssert(CthSelf() == CpvAccess(ready)->chooser);
  while ((next = pop_ready()) != NULL) {
    CthResume(next);
    CmiAssert(CthSelf() == CpvAccess(ready)->chooser);
  }
  CmiAssert(CpvAccess(ready)->over == WORKERS);
  CthAwaken(waiter);
}

static void a_thread_of_the_program_chooses(void) {
  Ready* const ready = CpvAccess(ready);
  int i;
  memset(ready, 0, sizeof *ready);
  ready->chooser = CthCreate(chooser, CthSelf(), 0);
  for (i = 0; i < WORKERS; ++i) {
    CthThread const thread = CthCreate(worker, (void*)(intptr_t)i, 0);
    CthSetStrategy(thread, awaken_own, choose_chooser);
    CthAwaken(thread);
  }
  CthAwaken(ready->chooser);
  CthSuspend();
  CmiAssert(ready->steps == WORKERS * ROUNDS);
  CmiAssert(ready->strategies[0] == WORKERS * (1 + ROUNDS / 2));
  CmiAssert(ready->strategies[1] == WORKERS * ROUNDS / 2);
  CmiAssert(ready->strategies[2] == 0);
}

/* Without a thread that chooses: whoever stops says who is next, and the last one nobody. */
static CthThread choose_next_ready(void) { return pop_ready(); }

static void each_names_the_next(void) {
  Ready* const ready = CpvAccess(ready);
  int i;
  memset(ready, 0, sizeof *ready);
  for (i = 0; i < WORKERS; ++i) {
    CthThread const thread = CthCreate(worker, (void*)(intptr_t)i, 0);
    CthSetStrategy(thread, awaken_own, choose_next_ready);
    CthAwaken(thread);
  }
  /* Outside of threads this comes back when a thread has named nobody. */
  CthResume(pop_ready());
  CmiAssert(ready->over == WORKERS && ready->steps == WORKERS * ROUNDS);
}

/* Tokens are messages, and so they may be enqueued, with the program's own priority. */
static void enqueue_token(CthThreadToken* token, int strategy, int bits, unsigned int* priority) {
  static unsigned int late = 3;
  (void)strategy;
  (void)bits;
  (void)priority;
  CsdEnqueueGeneral(token, CQS_QUEUEING_IFIFO, 32, &late);
}

static void count_step(void* user) {
  ++CpvAccess(ready)->steps;
  CthSuspend();
  ++CpvAccess(ready)->steps;
  if (user != NULL) CthAwaken((CthThread)user);
}

static void tokens_are_messages(void) {
  CthThread const thread = CthCreate(count_step, CthSelf(), 0);
  CpvAccess(ready)->steps = 0;
  CthSetStrategy(thread, enqueue_token, NULL);
  CthAwaken(thread);
  CthYield(); /* its priority is none, which is before 3 */
  CmiAssert(CpvAccess(ready)->steps == 0);
  CsdScheduler(0);
  CmiAssert(CpvAccess(ready)->steps == 1);
  CthSetStrategyDefault(thread);
  CthAwaken(thread);
  CthSuspend();
  CmiAssert(CpvAccess(ready)->steps == 2);
}

static void exits(void* user) {
  *(int*)user += 1;
  CthExit();
  *(int*)user += 100;
}

static void frees_itself(void* user) {
  CthFree(CthSelf());
  *(int*)user += 10;
  CthSuspend();
  *(int*)user += 100;
}

/* One that has begun, one that has not, one whose token is queued twice: nothing of them runs. */
static void threads_end_in_every_way(void) {
  int value = 0;
  CthThread begun = CthCreate(count_step, NULL, 0);
  CthThread queued = CthCreate(count_step, NULL, 0);
  CpvAccess(ready)->steps = 0;
  CthAwaken(CthCreate(exits, &value, 0));
  CthAwaken(CthCreate(frees_itself, &value, 0));
  CthAwaken(begun);
  CsdScheduler(0);
  CmiAssert(value == 11);
  CmiAssert(CpvAccess(ready)->steps == 1);
  CthAwaken(queued);
  CthAwaken(queued);
  CthFree(begun);
  CthFree(queued);
  CthFree(CthCreate(count_step, NULL, 0));
  CthAwaken(CthCreate(exits, &value, 0)); /* it has the memory of one of these */
  CsdScheduler(0);
  CmiAssert(value == 12);
  CmiAssert(CpvAccess(ready)->steps == 1);
}

/* A thread that runs messages itself is no part of their handlers; its token comes meanwhile. */
static void runs_messages(void* user) {
  CthAwaken(CthSelf());
  CsdScheduler(0); /* brings the token */
  CthSuspend();    /* and so this comes back at once */
  *(int*)user += 1;
}

static void a_thread_may_run_messages(void) {
  int value = 0;
  CthAwaken(CthCreate(runs_messages, &value, 0));
  CsdScheduler(0);
  CmiAssert(value == 1);
}

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  all_done_register();
  CpvInitialize(Ready*, ready);
  CpvAccess(ready) = (Ready*)calloc(1, sizeof(Ready));
  a_thread_of_the_program_chooses();
  each_names_the_next();
  tokens_are_messages();
  threads_end_in_every_way();
  a_thread_may_run_messages();
  free(CpvAccess(ready));
  all_done_say();
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
