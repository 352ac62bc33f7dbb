/* Messages to processes: any PE of the process takes one, and each is taken once. */
#include "program.inc.h"

enum { kSent, kSentAndFree, kToOthers, kToOthersAndFree, kToAll, kToAllAndFree, kQueued, kForms };
enum { kRounds = 6, kBytes = 2500 };

typedef struct Order {
  char header[CmiMsgHeaderSizeBytes];
  int from, form, round;
  char bytes[kBytes];
} Order;

CpvDeclare(int, order_handler);
CsvDeclare(CmiNodeLock, lock);
CsvDeclare(char*, had);
CsvDeclare(int, left);

static void on_order(void* message) {
  Order* order = (Order*)message;
  expect_pattern(order->bytes, kBytes, order->from + order->form, "order");
  const int is_own = CmiNodeOf(order->from) == CmiMyNode();
  expect(!is_own || (order->form != kToOthers && order->form != kToOthersAndFree),
         "an order that was for the other processes");
  CmiLock(CsvAccess(lock));
  char* had = CsvAccess(had) + (order->from * kForms + order->form) * kRounds + order->round;
  expect(!*had, "an order came twice");
  *had = 1;
  const int left = CsvAccess(left) -= 1;
  CmiUnlock(CsvAccess(lock));
  CmiFree(order);
  if (left == 0)
    for (int rank = 0; rank < CmiMyNodeSize(); ++rank) finish_pe(); /* for all of the process */
}

static Order* new_order(int form, int round) {
  Order* order = (Order*)CmiAlloc(sizeof(Order));
  order->from = CmiMyPe();
  order->form = form;
  order->round = round;
  fill_pattern(order->bytes, kBytes, order->from + form);
  CmiSetHandler(order, CpvAccess(order_handler));
  return order;
}

static void scribble(Order* order) {
  memset(order, 0x66, sizeof(Order));
  CmiFree(order);
}

static void send_round(int round) {
  for (int node = 0; node < CmiNumNodes(); ++node) {
    Order* order = new_order(kSent, round);
    CmiSyncNodeSend(node, sizeof(Order), order);
    scribble(order);
    CmiSyncNodeSendAndFree(node, sizeof(Order), new_order(kSentAndFree, round));
  }
  Order* to_others = new_order(kToOthers, round);
  CmiSyncNodeBroadcast(sizeof(Order), to_others);
  scribble(to_others);
  CmiSyncNodeBroadcastAndFree(sizeof(Order), new_order(kToOthersAndFree, round));
  Order* to_all = new_order(kToAll, round);
  CmiSyncNodeBroadcastAll(sizeof(Order), to_all);
  scribble(to_all);
  CmiSyncNodeBroadcastAllAndFree(sizeof(Order), new_order(kToAllAndFree, round));
  switch (round % 3) {
    case 0: CsdNodeEnqueue(new_order(kQueued, round)); break;
    case 1: CsdNodeEnqueueLifo(new_order(kQueued, round)); break;
    default: {
      Order* order = new_order(kQueued, round);
      static unsigned urgent = 1;
      CsdNodeEnqueueGeneral(order, CQS_QUEUEING_IFIFO, 32, &urgent);
    }
  }
}

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  begin_program("node_sends");
  CpvInitialize(int, order_handler);
  CsvInitialize(CmiNodeLock, lock);
  CsvInitialize(char*, had);
  CsvInitialize(int, left);
  CpvAccess(order_handler) = CmiRegisterHandler(on_order);
  if (CmiMyRank() == 0) {
    CsvAccess(lock) = CmiCreateLock();
    CsvAccess(had) = (char*)calloc((size_t)(CmiNumPes() * kForms), kRounds);
    /* Four forms come from every PE, two from those of the others, and what is queued stays. */
    CsvAccess(left) =
        kRounds * (4 * CmiNumPes() + 2 * (CmiNumPes() - CmiMyNodeSize()) + CmiMyNodeSize());
  }
  CmiNodeBarrier();
  for (int round = 0; round < kRounds; ++round) send_round(round);
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
