/* To the PEs of a list: one that stands twice gets two, and an empty list is none. */
#include "program.inc.h"

enum { kBytes = 5000 };

typedef struct Circular {
  char header[CmiMsgHeaderSizeBytes];
  int from, way;
  char bytes[kBytes];
} Circular;

CpvDeclare(int, circular_handler);
CpvDeclare(int, left);
CpvDeclare(int*, had);

/* Itself, the next one twice, and the last one. */
static int make_list(int from, int* pes) {
  pes[0] = (from + 1) % CmiNumPes();
  pes[1] = from;
  pes[2] = CmiNumPes() - 1;
  pes[3] = (from + 1) % CmiNumPes();
  return 4;
}

static int wanted_of(int from) {
  int pes[4];
  int count = 0;
  const int length = make_list(from, pes);
  for (int i = 0; i < length; ++i) count += pes[i] == CmiMyPe();
  return count;
}

static void on_circular(void* message) {
  Circular* circular = (Circular*)message;
  int* had = CpvAccess(had) + 2 * circular->from + circular->way;
  *had += 1;
  expect(*had <= wanted_of(circular->from), "more circulars than the list has entries");
  expect_pattern(circular->bytes, kBytes, circular->from + circular->way, "circular");
  CmiFree(circular);
  if (--CpvAccess(left) == 0) finish_pe();
}

static Circular* new_circular(int way) {
  Circular* circular = (Circular*)CmiAlloc(sizeof(Circular));
  circular->from = CmiMyPe();
  circular->way = way;
  fill_pattern(circular->bytes, kBytes, circular->from + way);
  CmiSetHandler(circular, CpvAccess(circular_handler));
  return circular;
}

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  begin_program("list_send");
  CpvInitialize(int, circular_handler);
  CpvInitialize(int, left);
  CpvInitialize(int*, had);
  CpvAccess(circular_handler) = CmiRegisterHandler(on_circular);
  CpvAccess(left) = 0;
  CpvAccess(had) = (int*)calloc((size_t)(2 * CmiNumPes()), sizeof(int));
  for (int pe = 0; pe < CmiNumPes(); ++pe) CpvAccess(left) += 2 * wanted_of(pe);
  /* With many PEs some stand in no list of others, but each stands in its own. */

  int pes[4];
  const int count = make_list(CmiMyPe(), pes);
  CmiSyncListSendAndFree(count, pes, sizeof(Circular), new_circular(0));
  Circular* copied = new_circular(1);
  CmiSyncListSend(count, pes, sizeof(Circular), copied);
  memset(copied, 0x22, sizeof(Circular));
  CmiFree(copied);
  CmiSyncListSendAndFree(0, pes, sizeof(Circular), new_circular(1));
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
