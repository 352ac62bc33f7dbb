/* Messages from the stack and the heap, copied whole with their headers, sent on, shared by
   references, and sent while the sender holds one. */
#include "program.inc.h"

enum { kBytes = 4096 };
enum { kStack, kBareStack, kHeap, kWhole, kOtherWay, kShared, kKinds };

typedef struct Parcel {
  char header[CmiMsgHeaderSizeBytes];
  int from, kind, hops;
  char bytes[kBytes];
} Parcel;

CpvDeclare(int, parcel_handler);
CpvDeclare(int, copier_handler);
CpvDeclare(int, left);
CpvDeclare(int*, had);
CpvDeclare(Parcel*, kept);

static int next_pe(void) { return (CmiMyPe() + 1) % CmiNumPes(); }

static void label(Parcel* parcel, int kind) {
  parcel->from = CmiMyPe();
  parcel->kind = kind;
  parcel->hops = 0;
  fill_pattern(parcel->bytes, kBytes, parcel->from + kind);
  CmiSetHandler(parcel, CpvAccess(parcel_handler));
}

static void on_parcel(void* message) {
  Parcel* parcel = (Parcel*)message;
  int* had = CpvAccess(had) + parcel->from * kKinds + parcel->kind;
  *had += 1;
  expect_equal(*had, 1, "parcels of one kind and sender");
  expect_pattern(parcel->bytes, kBytes, parcel->from + parcel->kind, "parcel");
  CmiFree(parcel);
  if (--CpvAccess(left) > 0) return;
  /* The one that was shared is still ours, and nobody wrote into it. */
  parcel = CpvAccess(kept);
  expect_equal(parcel->kind, kShared, "kind of the parcel that was kept");
  expect_pattern(parcel->bytes, kBytes, CmiMyPe() + kShared, "parcel that was kept");
  CmiFree(parcel);
  finish_pe();
}

/* Copies what came, header and all, into other memory, and sends the copies on. */
static void on_copier(void* message) {
  Parcel* parcel = (Parcel*)message;
  Parcel* copy = (Parcel*)CmiAlloc(sizeof(Parcel));
  CmiSetHandler(parcel, CpvAccess(parcel_handler));
  memcpy(copy, parcel, sizeof(Parcel));
  CmiFree(parcel);
  expect_equal(CmiSize(copy), sizeof(Parcel), "size of a message that was written over");
  Parcel* outside = (Parcel*)malloc(sizeof(Parcel));
  memcpy(outside, copy, sizeof(Parcel));
  outside->kind = kOtherWay;
  fill_pattern(outside->bytes, kBytes, outside->from + kOtherWay);
  CmiSyncSend(next_pe(), sizeof(Parcel), outside);
  free(outside);
  CmiSyncSendAndFree(next_pe(), sizeof(Parcel), copy);
}

static void send_from_stack(void) {
  Parcel parcel;
  CmiInitMsgHeader(&parcel, sizeof(Parcel));
  label(&parcel, kStack);
  CmiSyncSend(next_pe(), sizeof(Parcel), &parcel);
  memset(&parcel, 0xA5, sizeof parcel); /* older programs set the handler and nothing else */
  label(&parcel, kBareStack);
  CmiSyncSend(next_pe(), sizeof(Parcel), &parcel);
  memset(&parcel, 0x5A, sizeof parcel);
}

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  begin_program("messages");
  CpvInitialize(int, parcel_handler);
  CpvInitialize(int, copier_handler);
  CpvInitialize(int, left);
  CpvInitialize(int*, had);
  CpvInitialize(Parcel*, kept);
  CpvAccess(parcel_handler) = CmiRegisterHandler(on_parcel);
  CpvAccess(copier_handler) = CmiRegisterHandler(on_copier);
  CpvAccess(had) = (int*)calloc((size_t)(CmiNumPes() * kKinds), sizeof(int));
  CpvAccess(left) = kShared + CmiNumPes();

  send_from_stack();
  Parcel* heap = (Parcel*)malloc(sizeof(Parcel));
  label(heap, kHeap);
  CmiSyncSend(next_pe(), sizeof(Parcel), heap);
  free(heap);
  Parcel* whole = (Parcel*)CmiAlloc(sizeof(Parcel));
  label(whole, kWhole);
  CmiSetHandler(whole, CpvAccess(copier_handler));
  CmiSyncSendAndFree(next_pe(), sizeof(Parcel), whole);
  /* One message, given to all: each send takes a reference, and one is ours. */
  Parcel* shared = (Parcel*)CmiAlloc(sizeof(Parcel));
  label(shared, kShared);
  CpvAccess(kept) = shared;
  for (int pe = 0; pe < CmiNumPes(); ++pe) {
    CmiReference(shared);
    CmiSyncSendAndFree(pe, sizeof(Parcel), shared);
  }
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
