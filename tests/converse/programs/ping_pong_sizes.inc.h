/* A message goes to and fro between PE 0 and the last PE; it grows, and each byte is checked. */
#include "program.inc.h"

enum { kLargest = 1 << 18, kRoundsOfSize = 4 };

typedef struct Ball {
  char header[CmiMsgHeaderSizeBytes];
  int size; /* with the struct */
  int round;
} Ball;

CpvDeclare(int, at_far);
CpvDeclare(int, at_near);
CpvDeclare(int, balls_back);

static void serve(int size, int round) {
  Ball* ball = (Ball*)CmiAlloc(size);
  ball->size = size;
  ball->round = round;
  fill_pattern((char*)(ball + 1), size - (int)sizeof(Ball), round);
  CmiSetHandler(ball, CpvAccess(at_far));
  CmiSyncSendAndFree(CmiNumPes() - 1, size, ball);
}

static void far_handler(Ball* ball) {
  expect_equal(CmiMyPe(), CmiNumPes() - 1, "the PE that a ball was sent to");
  expect_pattern((char*)(ball + 1), ball->size - (int)sizeof(Ball), ball->round,
                 "ball at the far PE");
  CmiSetHandler(ball, CpvAccess(at_near));
  CmiSyncSendAndFree(0, ball->size, ball);
}

static void near_handler(Ball* ball) {
  const int size = ball->size;
  const int round = ball->round;
  expect_equal(CmiMyPe(), 0, "the PE that a ball came back to");
  expect_equal(round, CpvAccess(balls_back), "rounds");
  expect_pattern((char*)(ball + 1), size - (int)sizeof(Ball), round, "ball that came back");
  CmiFree(ball);
  CpvAccess(balls_back) += 1;
  const int next = CpvAccess(balls_back) % kRoundsOfSize == 0 ? size * 2 + 1 : size;
  if (next > kLargest)
    finish_pe();
  else
    serve(next, CpvAccess(balls_back));
}

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  begin_program("ping_pong_sizes");
  CpvInitialize(int, at_far);
  CpvInitialize(int, at_near);
  CpvInitialize(int, balls_back);
  CpvAccess(balls_back) = 0;
  CpvAccess(at_far) = CmiRegisterHandler((CmiHandler)far_handler);
  CpvAccess(at_near) = CmiRegisterHandler((CmiHandler)near_handler);
  if (CmiMyPe() == 0)
    serve(sizeof(Ball), 0);
  else
    finish_pe();
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
