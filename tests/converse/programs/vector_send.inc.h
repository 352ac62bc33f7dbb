/* One message out of several pieces, the first of which holds the header. */
#include "program.inc.h"

enum { kPieces = 5, kCopied = 0, kFreed = 1, kLater = 2, kWays = 3 };

typedef struct Head {
  char header[CmiMsgHeaderSizeBytes];
  int from, way;
} Head;

CpvDeclare(int, joined_handler);
CpvDeclare(int, left);
CpvDeclare(char*, had);

/* Odd sizes, and one of no bytes. */
static int piece_bytes(int piece) {
  const int bytes[kPieces] = {(int)sizeof(Head), 1, 777, 0, 40001};
  return bytes[piece];
}

static void on_joined(void* message) {
  Head* head = (Head*)message;
  char* had = CpvAccess(had) + head->from * kWays + head->way;
  expect(!*had, "a message came twice");
  *had = 1;
  const char* bytes = (const char*)(head + 1);
  for (int piece = 1; piece < kPieces; ++piece) {
    expect_pattern(bytes, piece_bytes(piece), head->from + head->way + piece, "piece");
    bytes += piece_bytes(piece);
  }
  CmiFree(head);
  if (--CpvAccess(left) == 0) finish_pe();
}

static void make_pieces(int way, int* sizes, char** pieces) {
  for (int piece = 0; piece < kPieces; ++piece) {
    sizes[piece] = piece_bytes(piece);
    pieces[piece] = (char*)CmiAlloc(sizes[piece] + CmiMsgHeaderSizeBytes);
    fill_pattern(pieces[piece], sizes[piece], CmiMyPe() + way + piece);
  }
  Head* head = (Head*)pieces[0];
  CmiInitMsgHeader(head, sizeof(Head));
  head->from = CmiMyPe();
  head->way = way;
  CmiSetHandler(head, CpvAccess(joined_handler));
}

static void send_and_keep(int pe, int way) {
  int sizes[kPieces];
  char* pieces[kPieces];
  make_pieces(way, sizes, pieces);
  if (way == kCopied) {
    CmiSyncVectorSend(pe, kPieces, sizes, pieces);
  } else {
    CmiCommHandle handle = CmiAsyncVectorSend(pe, kPieces, sizes, pieces);
    while (!CmiAsyncMsgSent(handle)) CsdScheduler(0);
    CmiReleaseCommHandle(handle);
  }
  for (int piece = 0; piece < kPieces; ++piece) {
    memset(pieces[piece], 0x44, (size_t)sizes[piece]);
    CmiFree(pieces[piece]);
  }
}

static void send_and_give(int pe) {
  int* sizes = (int*)CmiAlloc(kPieces * sizeof(int));
  char** pieces = (char**)CmiAlloc(kPieces * sizeof(char*));
  make_pieces(kFreed, sizes, pieces);
  CmiSyncVectorSendAndFree(pe, kPieces, sizes, pieces);
}

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  begin_program("vector_send");
  CpvInitialize(int, joined_handler);
  CpvInitialize(int, left);
  CpvInitialize(char*, had);
  CpvAccess(joined_handler) = CmiRegisterHandler(on_joined);
  CpvAccess(left) = kWays * CmiNumPes();
  CpvAccess(had) = (char*)calloc((size_t)CmiNumPes(), kWays);
  for (int pe = 0; pe < CmiNumPes(); ++pe) {
    send_and_keep(pe, kCopied);
    send_and_keep(pe, kLater);
    send_and_give(pe);
  }
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
