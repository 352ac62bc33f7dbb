/* Several messages to one PE by one call, of other sizes and for other handlers. */
#include "program.inc.h"

enum { kParts = 9, kKinds = 2 };

typedef struct Part {
  char header[CmiMsgHeaderSizeBytes];
  int from, number;
} Part;

CpvDeclare(int, even_handler);
CpvDeclare(int, odd_handler);
CpvDeclare(int, left);
CpvDeclare(char*, had);

static int bytes_of(int number) { return number * number * 90 + number % 3; }

static void on_part(Part* part) {
  char* had = CpvAccess(had) + part->from * kParts + part->number;
  expect(!*had, "a part came twice");
  *had = 1;
  expect_pattern((char*)(part + 1), bytes_of(part->number), part->from - part->number, "part");
  CmiFree(part);
  if (--CpvAccess(left) == 0) finish_pe();
}

static void on_even(Part* part) {
  expect_equal(part->number % kKinds, 0, "part for the even handler");
  on_part(part);
}

static void on_odd(Part* part) {
  expect_equal(part->number % kKinds, 1, "part for the odd handler");
  on_part(part);
}

static void send_parts(int pe) {
  int sizes[kParts];
  char* messages[kParts];
  for (int number = 0; number < kParts; ++number) {
    sizes[number] = (int)sizeof(Part) + bytes_of(number);
    messages[number] = (char*)CmiAlloc(sizes[number]);
    Part* part = (Part*)messages[number];
    part->from = CmiMyPe();
    part->number = number;
    fill_pattern((char*)(part + 1), bytes_of(number), part->from - number);
    CmiSetHandler(part, number % 2 == 0 ? CpvAccess(even_handler) : CpvAccess(odd_handler));
  }
  CmiMultipleSend((unsigned)pe, kParts, sizes, messages);
  for (int number = 0; number < kParts; ++number) {
    memset(messages[number], 0x11, (size_t)sizes[number]);
    CmiFree(messages[number]);
  }
}

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  begin_program("multiple_send");
  CpvInitialize(int, even_handler);
  CpvInitialize(int, odd_handler);
  CpvInitialize(int, left);
  CpvInitialize(char*, had);
  CpvAccess(even_handler) = CmiRegisterHandler((CmiHandler)on_even);
  CpvAccess(odd_handler) = CmiRegisterHandler((CmiHandler)on_odd);
  CpvAccess(left) = kParts * CmiNumPes();
  CpvAccess(had) = (char*)calloc((size_t)CmiNumPes(), kParts);
  for (int pe = 0; pe < CmiNumPes(); ++pe) send_parts(pe);
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
