/* Messages that make messages: quiescence is told when none is left, and not before. */
#include "program.inc.h"

enum { kSeeds = 6, kDepth = 7, kDetections = 3 };

typedef struct Spark {
  char header[CmiMsgHeaderSizeBytes];
  int depth;
  unsigned state;
  int pes_to_come; /* of a count that goes round */
  int sum;
} Spark;

CpvDeclare(int, spark_handler);
CpvDeclare(int, sum_handler);
CpvDeclare(int, again_handler);
CpvDeclare(int, sparks);
CpvDeclare(int, detections);
CpvDeclare(int, is_counting);

static void throw_spark(int depth, unsigned state) {
  Spark* spark = (Spark*)CmiAlloc(sizeof(Spark));
  spark->depth = depth;
  spark->state = state;
  CmiSetHandler(spark, CpvAccess(spark_handler));
  const int pe = draw(&spark->state, CmiNumPes());
  if (draw(&spark->state, 8) == 0) {
    CmiSyncSend(pe, sizeof(Spark), spark);
    CmiFree(spark);
  } else {
    CmiSyncSendAndFree(pe, sizeof(Spark), spark);
  }
}

/* Two more, down to some depth. Some wait in the queue of the PE before they do. */
static void on_spark(void* message) {
  Spark* spark = (Spark*)message;
  if (draw(&spark->state, 4) == 0) {
    CsdEnqueue(spark);
    return;
  }
  CpvAccess(sparks) += 1;
  if (spark->depth > 0) {
    throw_spark(spark->depth - 1, spark->state * 3 + 1);
    throw_spark(spark->depth - 1, spark->state * 5 + 2);
  }
  CmiFree(spark);
}

static void begin_round(void) {
  for (int i = 0; i < kSeeds; ++i) throw_spark(kDepth, (unsigned)(i + 100 * CmiMyPe()));
}

static void on_quiet(void* user) {
  expect(user == (void*)&CpvAccess(detections), "argument of quiescence");
  expect_equal(CmiMyPe(), 0, "the PE that asked for quiescence");
  expect(!CpvAccess(is_counting), "quiescence was told twice");
  CpvAccess(is_counting) = 1;
  Spark* count = (Spark*)CmiAlloc(sizeof(Spark));
  count->sum = 0;
  count->pes_to_come = CmiNumPes();
  CmiSetHandler(count, CpvAccess(sum_handler));
  CmiSyncSendAndFree(CmiNumPes() - 1, sizeof(Spark), count);
}

/* Goes over all PEs from the last to PE 0. All were quiet, so nothing can have changed. */
static void on_sum(void* message) {
  Spark* count = (Spark*)message;
  count->sum += CpvAccess(sparks);
  count->pes_to_come -= 1;
  if (count->pes_to_come > 0) {
    CmiSyncSendAndFree(CmiMyPe() - 1, sizeof(Spark), count);
    return;
  }
  CpvAccess(detections) += 1;
  expect_equal(count->sum, CpvAccess(detections) * CmiNumPes() * kSeeds * ((2 << kDepth) - 1),
               "sparks that went out before quiescence");
  CpvAccess(is_counting) = 0;
  CmiSetHandler(count, CpvAccess(again_handler));
  count->depth = CpvAccess(detections) == kDetections;
  CmiSyncBroadcastAllAndFree(sizeof(Spark), count);
}

static void on_again(void* message) {
  const int is_last = ((Spark*)message)->depth;
  CmiFree(message);
  if (is_last) {
    finish_pe();
    return;
  }
  begin_round();
  if (CmiMyPe() == 0) CmiStartQD(on_quiet, &CpvAccess(detections));
}

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  begin_program("quiescence");
  CpvInitialize(int, spark_handler);
  CpvInitialize(int, sum_handler);
  CpvInitialize(int, again_handler);
  CpvInitialize(int, sparks);
  CpvInitialize(int, detections);
  CpvInitialize(int, is_counting);
  CpvAccess(sparks) = CpvAccess(detections) = CpvAccess(is_counting) = 0;
  CpvAccess(spark_handler) = CmiRegisterHandler(on_spark);
  CpvAccess(sum_handler) = CmiRegisterHandler(on_sum);
  CpvAccess(again_handler) = CmiRegisterHandler(on_again);
  begin_round();
  if (CmiMyPe() == 0) CmiStartQD(on_quiet, &CpvAccess(detections));
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
