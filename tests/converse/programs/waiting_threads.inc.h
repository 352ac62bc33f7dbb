/* Threads ask other PEs, and wait for the answers, many at once; a thread makes threads. */
#include "program.inc.h"

enum { kThreads = 8, kQuestions = 15 };

typedef struct Question {
  char header[CmiMsgHeaderSizeBytes];
  int from;
  CthThread asks; /* of the PE that asks */
  int* result;    /* on its stack */
  int value;
} Question;

CpvDeclare(int, question_handler);
CpvDeclare(int, answer_handler);
CpvDeclare(int, ended);

static void on_question(void* message) {
  Question* question = (Question*)message;
  question->value = 3 * question->value + CmiMyPe();
  CmiSetHandler(question, CpvAccess(answer_handler));
  CmiSyncSendAndFree(question->from, sizeof(Question), question);
}

static void on_answer(void* message) {
  Question* answer = (Question*)message;
  expect_equal(answer->from, CmiMyPe(), "who asked");
  *answer->result = answer->value;
  CthAwaken(answer->asks);
  CmiFree(answer);
}

static int ask(int pe, int value) {
  int result = -1;
  Question* question = (Question*)CmiAlloc(sizeof(Question));
  question->from = CmiMyPe();
  question->asks = CthSelf();
  question->result = &result;
  question->value = value;
  CmiSetHandler(question, CpvAccess(question_handler));
  CmiSyncSendAndFree(pe, sizeof(Question), question);
  CthSuspend();
  return result;
}

static void ask_all(void* user) {
  const int number = (int)(size_t)user;
  for (int i = 0; i < kQuestions; ++i) {
    const int pe = (CmiMyPe() + number + i) % CmiNumPes();
    const int value = 1000 * number + i;
    expect_equal(ask(pe, value), 3 * value + pe, "answer");
  }
  CpvAccess(ended) += 1;
  if (CpvAccess(ended) == kThreads) finish_pe();
}

static void make_threads(void* user) {
  (void)user;
  for (int i = 0; i < kThreads; ++i) {
    CthAwaken(CthCreate(ask_all, (void*)(size_t)i, 0));
    if (i % 3 == 0) CthYield();
  }
}

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  begin_program("waiting_threads");
  CpvInitialize(int, question_handler);
  CpvInitialize(int, answer_handler);
  CpvInitialize(int, ended);
  CpvAccess(ended) = 0;
  CpvAccess(question_handler) = CmiRegisterHandler(on_question);
  CpvAccess(answer_handler) = CmiRegisterHandler(on_answer);
  CthAwaken(CthCreate(make_threads, NULL, 0));
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
