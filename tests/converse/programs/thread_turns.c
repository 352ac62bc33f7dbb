/* Turns of threads: yields in both forms, priorities, a thousand threads, variables of threads, and
   CthSuspend() outside of threads. Each PE does it all by itself. */
#include "all_done.h"

enum { THREADS = 1000, ROUNDS = 5 };

typedef struct Turns {
  int turns[THREADS];
  int running;
  CthThread waiter;
} Turns;

CpvStaticDeclare(Turns*, turns);
CtvStaticDeclare(int, early);
CtvStaticDeclare(double, late);

/* All have had as many turns, or one more: nobody overtakes. */
static void expect_round_robin(int index) {
  const int* turns = CpvAccess(turns)->turns;
  CmiAssert(turns[index] <= turns[(index + THREADS - 1) % THREADS] + (index == 0 ? 1 : 0));
}

static void yielding(void* user) {
  const int index = (int)(intptr_t)user;
  int round;
  CmiAssert(CtvAccess(early) == 0);
  CtvAccess(early) = index;
  for (round = 0; round < ROUNDS; ++round) {
    ++CpvAccess(turns)->turns[index];
    expect_round_robin(index);
    if (round % 2 == 0) {
      CthYield();
    } else {
      CthAwaken(CthSelf());
      CthSuspend();
    }
    CmiAssert(CtvAccess(early) == index);
  }
  if (--CpvAccess(turns)->running == 0) CthAwaken(CpvAccess(turns)->waiter);
}

static void a_thousand_take_turns(void) {
  int i;
  CpvAccess(turns)->running = THREADS;
  CpvAccess(turns)->waiter = CthSelf();
  for (i = 0; i < THREADS; ++i) CthAwaken(CthCreate(yielding, (void*)(intptr_t)i, 0));
  CthSuspend();
  for (i = 0; i < THREADS; ++i) CmiAssert(CpvAccess(turns)->turns[i] == ROUNDS);
}

typedef struct Order {
  int seen[8];
  int count;
  CthThread waiter;
} Order;

typedef struct Noting {
  Order* order;
  int number;
} Noting;

static void noting(void* user) {
  Noting* const own = (Noting*)user;
  own->order->seen[own->order->count++] = own->number;
}

static void wake_waiter(void* user) { CthAwaken(((Order*)user)->waiter); }

static void expect_order(const Order* order, const int* numbers, int count) {
  int i;
  CmiAssert(order->count == count);
  for (i = 0; i < count; ++i) CmiAssert(order->seen[i] == numbers[i]);
}

/* Smaller ones first; among equals FIFO behind and LIFO before; none as 0. */
static void priorities_decide(void) {
  static const int expected[] = {3, 1, 2, 5, 4, 0};
  Order order = {{0}, 0, NULL};
  Noting who[6];
  CthThread threads[6];
  unsigned int values[6];
  unsigned int last = 100;
  int i;
  for (i = 0; i < 6; ++i) {
    who[i].order = &order;
    who[i].number = i;
    threads[i] = CthCreate(noting, &who[i], 0);
  }
  values[0] = 7;
  values[1] = (unsigned int)-2;
  values[2] = (unsigned int)-2;
  values[3] = (unsigned int)-2;
  values[4] = 1;
  CthAwakenPrio(threads[0], CQS_QUEUEING_IFIFO, 32, &values[0]);
  CthAwakenPrio(threads[1], CQS_QUEUEING_IFIFO, 32, &values[1]);
  CthAwakenPrio(threads[2], CQS_QUEUEING_IFIFO, 32, &values[2]);
  CthAwakenPrio(threads[3], CQS_QUEUEING_ILIFO, 32, &values[3]);
  CthAwakenPrio(threads[4], CQS_QUEUEING_IFIFO, 32, &values[4]);
  CthAwaken(threads[5]);
  order.waiter = CthSelf();
  CthAwakenPrio(CthCreate(wake_waiter, &order, 0), CQS_QUEUEING_IFIFO, 32, &last);
  CthSuspend();
  expect_order(&order, expected, 6);
}

/* A thread's token stands where a message does that was enqueued in its place. */
static void enqueued_note(void* message) {
  Noting own;
  memcpy(&own, (char*)message + CmiMsgHeaderSizeBytes, sizeof own);
  own.order->seen[own.order->count++] = own.number;
  CmiFree(message);
}

CpvStaticDeclare(int, note_handler);

static void enqueue_note(Order* order, int number) {
  char* message = (char*)CmiAlloc(CmiMsgHeaderSizeBytes + sizeof(Noting));
  Noting note;
  note.order = order;
  note.number = number;
  memcpy(message + CmiMsgHeaderSizeBytes, &note, sizeof note);
  CmiSetHandler(message, CpvAccess(note_handler));
  CsdEnqueue(message);
}

static void awakenings_and_messages_are_one_order(void) {
  static const int expected[] = {0, 1, 2, 3};
  Order order = {{0}, 0, NULL};
  Noting who[2];
  who[0].order = who[1].order = &order;
  who[0].number = 1;
  who[1].number = 3;
  enqueue_note(&order, 0);
  CthAwaken(CthCreate(noting, &who[0], 0));
  enqueue_note(&order, 2);
  CthAwaken(CthCreate(noting, &who[1], 0));
  CthYield(); /* outside of threads: behind what is there */
  expect_order(&order, expected, 4);
}

/* Two awakenings end two suspensions, whenever they were made. */
static void suspends_twice(void* user) {
  Order* const order = (Order*)user;
  CthAwaken(CthSelf());
  CthAwaken(CthSelf());
  ++order->count;
  CthSuspend();
  ++order->count;
  CthSuspend();
  ++order->count;
  CthAwaken(order->waiter);
}

static void each_awakening_ends_a_suspension(void) {
  Order order = {{0}, 0, NULL};
  order.waiter = CthSelf();
  CthAwaken(CthCreate(suspends_twice, &order, 0));
  CthSuspend();
  CmiAssert(order.count == 3);
}

/* A variable that was made when the thread was there already, and a value of the PE. */
static void uses_late(void* user) {
  CmiAssert(CtvAccess(late) == 0);
  CtvAccess(late) = 2.5;
  CthYield();
  CmiAssert(CtvAccess(late) == 2.5);
  CthAwaken((CthThread)user);
}

static void variables_are_each_threads_own(void) {
  CthThread thread = CthCreate(uses_late, CthSelf(), 32768);
  CmiAssert(!CtvInitialized(late));
  CtvInitialize(double, late);
  CmiAssert(CtvInitialized(late));
  CtvAccess(late) = 1.5;
  CthAwaken(thread);
  CthSuspend();
  CmiAssert(CtvAccess(late) == 1.5);
}

static void knows_itself(void* user) {
  CthThread* const self = (CthThread*)user;
  CmiAssert(*self == CthSelf());
  CmiAssert(!CthIsMainThread(CthSelf()));
  CmiAssert(CthGetToken(CthSelf())->thread == CthSelf());
  CmiAssert(CthIsSuspendable(CthSelf()));
  *self = NULL;
}

static void a_thread_knows_itself(void) {
  CthThread thread = NULL;
  CmiAssert(CthImplemented());
  CmiAssert(CthSelf() != NULL && CthIsMainThread(CthSelf()));
  thread = CthCreate(knows_itself, &thread, 0);
  CthSetNext(thread, CthSelf());
  CmiAssert(CthGetNext(thread) == CthSelf());
  CthAwaken(thread);
  CthYield();
  CmiAssert(thread == NULL);
}

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  all_done_register();
  CpvInitialize(int, note_handler);
  CpvAccess(note_handler) = CmiRegisterHandler(enqueued_note);
  CpvInitialize(Turns*, turns);
  CpvAccess(turns) = (Turns*)calloc(1, sizeof(Turns));
  CtvInitialize(int, early);
  CtvAccess(early) = -1;
  a_thousand_take_turns();
  priorities_decide();
  awakenings_and_messages_are_one_order();
  each_awakening_ends_a_suspension();
  variables_are_each_threads_own();
  a_thread_knows_itself();
  CmiAssert(CtvAccess(early) == -1);
  free(CpvAccess(turns));
  all_done_say();
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
