/* Messages of the smallest size and of sizes around powers of two, up to 4 MiB, to the next PE. */
#include "program.inc.h"

enum { kSizes = 14 };

typedef struct Big {
  char header[CmiMsgHeaderSizeBytes];
  int index;
  int from;
} Big;

CpvDeclare(int, big_handler);
CpvDeclare(int, bare_handler);
CpvDeclare(int, came);
CpvDeclare(int, had);

static int size_of(int index) {
  const int around[] = {-1, 0, 1};
  if (index == kSizes - 1) return 4 << 20;
  return (1 << (6 + index)) + around[index % 3];
}

static void one_came(void) {
  CpvAccess(came) += 1;
  expect(CpvAccess(came) <= kSizes + 1, "more messages than were sent");
  if (CpvAccess(came) == kSizes + 1) finish_pe();
}

static void on_big(void* message) {
  Big* big = (Big*)message;
  expect(big->index >= 0 && big->index < kSizes, "index");
  expect(!(CpvAccess(had) & 1 << big->index), "a size came twice");
  CpvAccess(had) |= 1 << big->index;
  expect_equal(big->from, (CmiMyPe() + CmiNumPes() - 1) % CmiNumPes(), "sender");
  expect_pattern((char*)(big + 1), size_of(big->index) - (int)sizeof(Big), big->index, "bytes");
  CmiFree(big);
  one_came();
}

/* A message that is nothing but its header. */
static void on_bare(void* message) {
  CmiFree(message);
  one_came();
}

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  begin_program("big_messages");
  CpvInitialize(int, big_handler);
  CpvInitialize(int, bare_handler);
  CpvInitialize(int, came);
  CpvInitialize(int, had);
  CpvAccess(came) = CpvAccess(had) = 0;
  CpvAccess(big_handler) = CmiRegisterHandler(on_big);
  CpvAccess(bare_handler) = CmiRegisterHandler(on_bare);
  const int next = (CmiMyPe() + 1) % CmiNumPes();
  for (int index = 0; index < kSizes; ++index) {
    const int size = size_of(index);
    Big* big = (Big*)CmiAlloc(size);
    big->index = index;
    big->from = CmiMyPe();
    fill_pattern((char*)(big + 1), size - (int)sizeof(Big), index);
    CmiSetHandler(big, CpvAccess(big_handler));
    if (index % 2 == 0) {
      CmiSyncSendAndFree(next, size, big);
    } else {
      CmiSyncSend(next, size, big);
      memset(big, 0x55, (size_t)size);
      CmiFree(big);
    }
  }
  void* bare = CmiAlloc(CmiMsgHeaderSizeBytes);
  CmiSetHandler(bare, CpvAccess(bare_handler));
  CmiSyncSendAndFree(next, CmiMsgHeaderSizeBytes, bare);
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
