/* Reductions of structures: rows of different lengths, which one function measures, packs and
   unpacks. */
#include <pup_c.h>

#include "all_done.h"

enum { ROUNDS = 20 };

typedef struct Row {
  int length;
  double* values;
  char name[12];
} Row;

typedef struct Table {
  long round;
  int rows;
  Row* row;
} Table;

CpvStaticDeclare(int, results);
CpvStaticDeclare(int, removed);

static void pup_row(pup_er p, Row* row) {
  pup_chars(p, row->name, sizeof row->name);
  pup_int(p, &row->length);
  if (pup_isUnpacking(p)) row->values = (double*)malloc((size_t)row->length * sizeof(double));
  pup_doubles(p, row->values, (size_t)row->length);
}

static void pup_table(void* p, void* data) {
  Table* const table = (Table*)data;
  int i;
  CmiAssert(pup_isSizing(p) + pup_isPacking(p) + pup_isUnpacking(p) == 1);
  CmiAssert(!pup_isDeleting(p));
  pup_long(p, &table->round);
  pup_int(p, &table->rows);
  if (pup_isUnpacking(p)) table->row = (Row*)malloc((size_t)table->rows * sizeof(Row));
  for (i = 0; i < table->rows; ++i) pup_row(p, &table->row[i]);
}

static Table* new_table(long round, int number) {
  Table* const table = (Table*)malloc(sizeof(Table));
  Row* const row = (Row*)malloc(sizeof(Row));
  int i;
  table->round = round;
  table->rows = 1;
  table->row = row;
  row->length = number % 7;
  row->values = (double*)malloc((size_t)(row->length + 1) * sizeof(double));
  for (i = 0; i < row->length; ++i) row->values[i] = number + i / 8.0;
  memset(row->name, 0, sizeof row->name);
  snprintf(row->name, sizeof row->name, "%d", number);
  return table;
}

static void free_table(Table* table) {
  int i;
  for (i = 0; i < table->rows; ++i) free(table->row[i].values);
  free(table->row);
  free(table);
}

static void remove_table(void* data) {
  ++CpvAccess(removed);
  free_table((Table*)data);
}

/* Every second time the result is another structure than the local one. */
static void* joined(int* size, void* local, void** remote, int count) {
  Table* own = (Table*)local;
  int i;
  CmiAssert(*size > 0);
  if (own->round % 2 != 0) {
    Table* const moved = (Table*)malloc(sizeof(Table));
    *moved = *own;
    free(own);
    own = moved;
  }
  for (i = 0; i < count; ++i) {
    Table part;
    pup_er const p = pup_new_fromMem(remote[i]);
    CmiAssert((uintptr_t)remote[i] % 16 == 0);
    pup_table(p, &part);
    CmiAssert(pup_size(p) > 0);
    pup_destroy(p);
    CmiAssert(part.round == own->round);
    own->row = (Row*)realloc(own->row, (size_t)(own->rows + part.rows) * sizeof(Row));
    memcpy(own->row + own->rows, part.row, (size_t)part.rows * sizeof(Row));
    own->rows += part.rows;
    free(part.row);
  }
  return own;
}

static void expect_all(const Table* table, int parts) {
  int sum = 0;
  int i, k;
  CmiAssert(table->rows == parts);
  for (i = 0; i < table->rows; ++i) {
    const Row* const row = &table->row[i];
    const int number = atoi(row->name);
    CmiAssert(row->length == number % 7);
    for (k = 0; k < row->length; ++k) CmiAssert(row->values[k] == number + k / 8.0);
    sum += number;
  }
  CmiAssert(sum == parts * (parts - 1) / 2);
}

static void one_result(Table* table) {
  CmiAssert(CmiMyPe() == 0);
  free_table(table);
  if (++CpvAccess(results) == 2 * ROUNDS) all_done_say();
}

static void take_table(void* data) {
  expect_all((Table*)data, CmiNumPes());
  one_result((Table*)data);
}

static void take_node_table(void* data) {
  expect_all((Table*)data, CmiNumNodes());
  one_result((Table*)data);
}

static void start(int argc, char** argv) {
  long round;
  (void)argc;
  (void)argv;
  all_done_register();
  CpvInitialize(int, results);
  CpvInitialize(int, removed);
  for (round = 0; round < ROUNDS; ++round) {
    CmiReduceStruct(new_table(round, CmiMyPe()), pup_table, joined, take_table, remove_table);
    if (CmiMyRank() == CmiMyNode() % CmiMyNodeSize())
      CmiNodeReduceStruct(new_table(round, CmiMyNode()), pup_table, joined, take_node_table,
                          remove_table);
  }
  /* What is packed at once is removed at once: all but what others are merged into. */
  CmiAssert(CmiMyRank() == 0 || CpvAccess(removed) >= ROUNDS);
  if (CmiMyPe() != 0) all_done_say();
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
