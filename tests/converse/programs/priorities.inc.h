/* CsdEnqueueGeneral() in all strategies: the queue is emptied in the one order of priorities. */
#include "program.inc.h"

enum { kItems = 160, kRounds = 12, kWords = 3 };

/* What the priority means, as bits from the highest on; a plain message has none. */
typedef struct Key {
  int is_plain;
  int bits;
  unsigned words[kWords];
} Key;

typedef union Priority {
  int as_int;
  CmiInt8 as_long;
  unsigned as_bits[kWords];
} Priority;

typedef struct Item {
  char header[CmiMsgHeaderSizeBytes];
  int id;
  Priority priority;
} Item;

CpvDeclare(int, item_handler);
CpvDeclare(int, count);
CpvDeclare(int, round);
CpvDeclare(unsigned, state);
CpvDeclare(int*, wanted); /* ids in the order in which they have to run */
CpvDeclare(Key*, keys);

static int bit_of(const Key* key, int place) {
  return (int)(key->words[place / 32] >> (31 - place % 32) & 1);
}

/* Below 0: `a` runs first. A plain message stands between those that begin with 0 and with 1. */
static int compare(const Key* a, const Key* b) {
  if (a->is_plain && b->is_plain) return 0;
  if (a->is_plain) return b->bits > 0 && bit_of(b, 0) ? -1 : 1;
  if (b->is_plain) return a->bits > 0 && bit_of(a, 0) ? 1 : -1;
  for (int i = 0; i < a->bits && i < b->bits; ++i)
    if (bit_of(a, i) != bit_of(b, i)) return bit_of(a, i) - bit_of(b, i);
  return a->bits - b->bits;
}

/* Where the next item goes: behind all its equals, or before them. */
static void insert(int id, int is_fifo) {
  int* wanted = CpvAccess(wanted);
  int place = 0;
  while (place < id) {
    const int order = compare(&CpvAccess(keys)[wanted[place]], &CpvAccess(keys)[id]);
    if (order > 0 || (order == 0 && !is_fifo)) break;
    ++place;
  }
  memmove(wanted + place + 1, wanted + place, (size_t)(id - place) * sizeof(int));
  wanted[place] = id;
}

static void draw_int(Item* item, Key* key) {
  const int some[] = {-2147483647 - 1, -70000, -1, 0, 1, 9, 2147483647};
  item->priority.as_int = some[draw(&CpvAccess(state), 7)];
  key->bits = 32;
  key->words[0] = (unsigned)item->priority.as_int + 0x80000000u;
}

/* Some begin with the bits of an int of above. */
static void draw_long(Item* item, Key* key) {
  const CmiInt8 some[] = {-9223372036854775807LL - 1, -1, 0, 1, 1LL << 32, 9LL << 32, -(1LL << 40)};
  item->priority.as_long = some[draw(&CpvAccess(state), 7)];
  const CmiUInt8 shifted = (CmiUInt8)item->priority.as_long + (1ULL << 63);
  key->bits = 64;
  key->words[0] = (unsigned)(shifted >> 32);
  key->words[1] = (unsigned)shifted;
}

/* Whole words, some of them those of ints; and some of a few bits, none of which is a beginning of
   another's word filled up with zeros. */
static void draw_bits(Item* item, Key* key) {
  const unsigned words[] = {0x7FFFFFFFu, 0x80000001u, 0x80000009u, 0x00000003u, 0xFFFFFFFFu};
  const int count = draw(&CpvAccess(state), kWords + 1);
  key->bits = 32 * count;
  for (int i = 0; i < count; ++i) key->words[i] = words[draw(&CpvAccess(state), 5)];
  if (draw(&CpvAccess(state), 4) == 0) {
    key->bits = 7;
    key->words[0] = draw(&CpvAccess(state), 2) ? 0x2C000000u : 0xEC000000u;
  }
  memcpy(item->priority.as_bits, key->words, sizeof key->words);
}

static void enqueue(int id) {
  Item* item = (Item*)CmiAlloc(sizeof(Item));
  Key* key = &CpvAccess(keys)[id];
  const int kind = draw(&CpvAccess(state), 4);
  const int is_fifo = draw(&CpvAccess(state), 2);
  memset(key, 0, sizeof *key);
  item->id = id;
  CmiSetHandler(item, CpvAccess(item_handler));
  switch (kind) {
    case 0: key->is_plain = 1; break;
    case 1: draw_int(item, key); break;
    case 2: draw_long(item, key); break;
    default: draw_bits(item, key); break;
  }
  insert(id, is_fifo);
  if (key->is_plain && draw(&CpvAccess(state), 2)) {
    if (is_fifo && draw(&CpvAccess(state), 2))
      CsdEnqueue(item);
    else if (is_fifo)
      CsdEnqueueFifo(item);
    else
      CsdEnqueueLifo(item);
    return;
  }
  const int strategies[4][2] = {{CQS_QUEUEING_LIFO, CQS_QUEUEING_FIFO},
                                {CQS_QUEUEING_ILIFO, CQS_QUEUEING_IFIFO},
                                {CQS_QUEUEING_LLIFO, CQS_QUEUEING_LFIFO},
                                {CQS_QUEUEING_BLIFO, CQS_QUEUEING_BFIFO}};
  CsdEnqueueGeneral(item, strategies[kind][is_fifo], key->bits, item->priority.as_bits);
}

static void enqueue_round(void) {
  CpvAccess(count) = 0;
  for (int id = 0; id < kItems; ++id) enqueue(id);
}

static void on_item(void* message) {
  Item* item = (Item*)message;
  expect_equal(item->id, CpvAccess(wanted)[CpvAccess(count)], "what runs next");
  CmiFree(item);
  if (++CpvAccess(count) < kItems) return;
  if (++CpvAccess(round) < kRounds)
    enqueue_round();
  else
    finish_pe();
}

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  begin_program("priorities");
  CpvInitialize(int, item_handler);
  CpvInitialize(int, count);
  CpvInitialize(int, round);
  CpvInitialize(unsigned, state);
  CpvInitialize(int*, wanted);
  CpvInitialize(Key*, keys);
  CpvAccess(item_handler) = CmiRegisterHandler(on_item);
  CpvAccess(round) = 0;
  CpvAccess(state) = (unsigned)CmiMyPe() + 1;
  CpvAccess(wanted) = (int*)malloc((kItems + 1) * sizeof(int));
  CpvAccess(keys) = (Key*)malloc(kItems * sizeof(Key));
  enqueue_round();
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
