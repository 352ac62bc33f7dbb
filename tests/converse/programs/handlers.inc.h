/* Handlers of all kinds: of odd types, with user data, registered by handlers, renamed, run by
   hand; and several hundred indexes. */
#include "program.inc.h"

enum { kMany = 300 };

typedef struct Call {
  char header[CmiMsgHeaderSizeBytes];
  int number;
} Call;

typedef struct Account {
  int calls;
  int sum;
} Account;

CpvDeclare(int, int_handler);
CpvDeclare(int, pointer_handler);
CpvDeclare(int, user_handler);
CpvDeclare(int, other_user_handler);
CpvDeclare(int, maker_handler);
CpvDeclare(int, made_handler);
CpvDeclare(int, renamed_handler);
CpvDeclare(int, first_of_many);
CpvDeclare(int, registered);
CpvDeclare(int, ran);
CpvDeclare(int, wanted);
CpvDeclare(Account*, accounts);

static void one_ran(void) {
  CpvAccess(ran) += 1;
  expect(CpvAccess(ran) <= CpvAccess(wanted), "more calls than messages");
  if (CpvAccess(ran) < CpvAccess(wanted)) return;
  expect_equal(CpvAccess(accounts)[0].calls, CmiNumPes(), "calls with the first user data");
  expect_equal(CpvAccess(accounts)[1].calls, CmiNumPes(), "calls with the second user data");
  expect_equal(CpvAccess(accounts)[0].sum, 3 * CmiNumPes(), "sum of the first user data");
  finish_pe();
}

static int returns_int(Call* call) {
  expect_equal(call->number, 1, "message of the handler that returns an int");
  CmiFree(call);
  one_ran();
  return 42;
}

static void* returns_pointer(char* message) {
  expect_equal(((Call*)message)->number, 2, "message of the handler that returns a pointer");
  CmiFree(message);
  one_ran();
  return message;
}

static void takes_user(Call* call, Account* account) {
  account->calls += 1;
  account->sum += call->number;
  CmiFree(call);
  one_ran();
}

static void on_made(void* message) {
  expect_equal(((Call*)message)->number, 5, "message of a handler that a handler registered");
  CmiFree(message);
  one_ran();
}

static void on_one_of_many(void* message) {
  const int index = CmiGetHandler(message);
  expect_equal(index - CpvAccess(first_of_many), ((Call*)message)->number, "index of many");
  expect(CmiGetHandlerFunction(message) == (CmiHandler)on_one_of_many, "function of an index");
  CmiFree(message);
  one_ran();
}

static void send_to_all(int handler, int number) {
  Call* call = (Call*)CmiAlloc(sizeof(Call));
  call->number = number;
  CmiSetHandler(call, handler);
  expect_equal(CmiGetHandler(call), handler, "index in a message");
  CmiSyncBroadcastAllAndFree(sizeof(Call), call);
}

/* On PE 0, once for each PE: the last one says that the new index may be used. */
static void on_registered(void* message) {
  CmiFree(message);
  CpvAccess(registered) += 1;
  if (CpvAccess(registered) == CmiNumPes()) send_to_all(CpvAccess(made_handler), 5);
}

/* All PEs register one more while they run; only then may anybody name it. */
static void on_maker(void* message) {
  CpvAccess(made_handler) = CmiRegisterHandler((CmiHandler)on_made);
  expect_equal(CpvAccess(made_handler), CpvAccess(first_of_many) + kMany, "the next index");
  CmiSetHandler(message, CpvAccess(renamed_handler));
  CmiSyncSendAndFree(0, sizeof(Call), message);
  Call* call = (Call*)CmiAlloc(sizeof(Call));
  call->number = 1;
  CmiSetHandler(call, CpvAccess(int_handler));
  const int ran = CpvAccess(ran);
  CmiHandleMessage(call); /* now, and here */
  expect_equal(CpvAccess(ran), ran + 1, "calls by CmiHandleMessage()");
  one_ran();
}

static void never(void* message) {
  (void)message;
  CmiAbort("a handler ran whose index was given to another");
}

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  begin_program("handlers");
  CpvInitialize(int, int_handler);
  CpvInitialize(int, pointer_handler);
  CpvInitialize(int, user_handler);
  CpvInitialize(int, other_user_handler);
  CpvInitialize(int, maker_handler);
  CpvInitialize(int, made_handler);
  CpvInitialize(int, renamed_handler);
  CpvInitialize(int, first_of_many);
  CpvInitialize(int, registered);
  CpvInitialize(int, ran);
  CpvInitialize(int, wanted);
  CpvInitialize(Account*, accounts);
  CpvAccess(ran) = CpvAccess(registered) = 0;
  CpvAccess(wanted) = 4 * CmiNumPes() + kMany + 3;
  CpvAccess(accounts) = (Account*)calloc(2, sizeof(Account));
  CpvAccess(int_handler) = CmiRegisterHandler((CmiHandler)returns_int);
  CpvAccess(pointer_handler) = CmiRegisterHandler((CmiHandler)returns_pointer);
  CpvAccess(user_handler) = CmiRegisterHandlerEx((CmiHandlerEx)takes_user, CpvAccess(accounts));
  CpvAccess(other_user_handler) =
      CmiRegisterHandlerEx((CmiHandlerEx)takes_user, CpvAccess(accounts) + 1);
  CpvAccess(maker_handler) = CmiRegisterHandler(on_maker);
  CpvAccess(renamed_handler) = CmiRegisterHandler(never);
  CmiNumberHandler(CpvAccess(renamed_handler), on_registered);
  for (int i = 0; i < kMany; ++i) {
    const int index = CmiRegisterHandler(on_one_of_many);
    if (i == 0) CpvAccess(first_of_many) = index;
    expect_equal(index, CpvAccess(first_of_many) + i, "indexes that are given one by one");
  }
  send_to_all(CpvAccess(int_handler), 1);
  send_to_all(CpvAccess(pointer_handler), 2);
  send_to_all(CpvAccess(user_handler), 3);
  send_to_all(CpvAccess(other_user_handler), 4);
  for (int i = 0; i < kMany; ++i) {
    Call* call = (Call*)CmiAlloc(sizeof(Call));
    call->number = i;
    CmiSetHandler(call, CpvAccess(first_of_many) + i);
    CmiSyncSendAndFree((CmiMyPe() + i) % CmiNumPes(), sizeof(Call), call);
  }
  if (CmiMyPe() == 0) send_to_all(CpvAccess(maker_handler), 0);
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
