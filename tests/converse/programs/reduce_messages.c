/* Reductions of messages: parts that grow, shrink and are replaced, many at a time, over PEs and
   over processes. */
#include "all_done.h"

enum { UNDER_WAY = 100 };

/* The numbers of the PEs that have contributed, in any order. */
typedef struct List {
  char header[CmiMsgHeaderSizeBytes];
  int round;
  int count;
  int numbers[1];
} List;

CpvStaticDeclare(int, list_handler);
CpvStaticDeclare(int, cut_handler);
CpvStaticDeclare(int, node_handler);
CpvStaticDeclare(int, results);

static int size_of(int count) {
  return (int)(offsetof(List, numbers) + (size_t)count * sizeof(int));
}

static List* new_list(int count, int round, int handler) {
  List* const list = (List*)CmiAlloc(size_of(count));
  list->round = round;
  list->count = count;
  CmiSetHandler(list, handler);
  return list;
}

/* Joins them in a new message, whose header it does not write. */
static void* joined(int* size, void* local, void** remote, int count) {
  List* const own = (List*)local;
  int numbers = own->count;
  int at = own->count;
  int i;
  List* all;
  CmiAssert(count > 0 && *size == size_of(own->count));
  for (i = 0; i < count; ++i) {
    CmiAssert(((List*)remote[i])->round == own->round);
    CmiAssert(CmiSize(remote[i]) == size_of(((List*)remote[i])->count));
    numbers += ((List*)remote[i])->count;
  }
  all = (List*)CmiAlloc(size_of(numbers));
  all->round = own->round;
  all->count = numbers;
  memcpy(all->numbers, own->numbers, (size_t)own->count * sizeof(int));
  for (i = 0; i < count; ++i) {
    List* const part = (List*)remote[i];
    memcpy(all->numbers + at, part->numbers, (size_t)part->count * sizeof(int));
    at += part->count;
  }
  CmiFree(own);
  *size = size_of(numbers);
  return all;
}

/* Keeps the least number alone: a result that is shorter than the local message. */
static void* least(int* size, void* local, void** remote, int count) {
  List* const own = (List*)local;
  int i;
  for (i = 0; i < count; ++i)
    if (((List*)remote[i])->numbers[0] < own->numbers[0])
      own->numbers[0] = ((List*)remote[i])->numbers[0];
  own->count = 1;
  *size = size_of(1);
  return own;
}

/* Adds up in place. */
static void* summed(int* size, void* local, void** remote, int count) {
  List* const own = (List*)local;
  int i;
  CmiAssert(*size == size_of(1));
  for (i = 0; i < count; ++i) own->numbers[0] += ((List*)remote[i])->numbers[0];
  return own;
}

static void one_result(void) {
  CmiAssert(CmiMyPe() == 0);
  if (++CpvAccess(results) == 3 * UNDER_WAY) all_done_say();
}

static void take_list(void* message) {
  List* const list = (List*)message;
  const int pes = CmiNumPes();
  char* const seen = (char*)calloc((size_t)pes, 1);
  int i;
  CmiAssert(list->count == pes && CmiSize(list) == size_of(pes));
  for (i = 0; i < pes; ++i) seen[list->numbers[i] - 1000 * list->round] = 1;
  for (i = 0; i < pes; ++i) CmiAssert(seen[i]);
  free(seen);
  CmiFree(message);
  one_result();
}

static void take_least(void* message) {
  List* const list = (List*)message;
  CmiAssert(list->numbers[0] == 5 + list->round);
  CmiAssert(CmiNumPes() == 1 || CmiSize(list) == size_of(1));
  CmiFree(message);
  one_result();
}

static void take_nodes(void* message) {
  List* const list = (List*)message;
  const int nodes = CmiNumNodes();
  CmiAssert(list->numbers[0] == nodes * (nodes + 1) / 2);
  CmiFree(message);
  one_result();
}

static void start(int argc, char** argv) {
  int round;
  (void)argc;
  (void)argv;
  all_done_register();
  CpvInitialize(int, list_handler);
  CpvInitialize(int, cut_handler);
  CpvInitialize(int, node_handler);
  CpvInitialize(int, results);
  CpvAccess(list_handler) = CmiRegisterHandler(take_list);
  CpvAccess(cut_handler) = CmiRegisterHandler(take_least);
  CpvAccess(node_handler) = CmiRegisterHandler(take_nodes);
  for (round = 0; round < UNDER_WAY; ++round) {
    List* list = new_list(1, round, CpvAccess(list_handler));
    List* longer = new_list(40 + CmiMyPe(), round, CpvAccess(cut_handler));
    list->numbers[0] = 1000 * round + CmiMyPe();
    CmiReduce(list, size_of(1), joined);
    memset(longer->numbers, 0, (size_t)longer->count * sizeof(int));
    longer->numbers[0] = 5 + round + CmiMyPe();
    CmiReduce(longer, size_of(30), least); /* less than it has memory for */
    if (CmiMyRank() == CmiMyNode() % CmiMyNodeSize()) {
      List* const node = new_list(1, round, CpvAccess(node_handler));
      node->numbers[0] = CmiMyNode() + 1;
      CmiNodeReduce(node, size_of(1), summed);
    }
  }
  if (CmiMyPe() != 0) all_done_say();
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
