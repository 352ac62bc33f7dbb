/*
 * Derived types of many elements at both sides, of every constructor, for each kind of operation.
 * Every rank works on the memory of the next one: element i of the type at one side belongs to
 * element i of the other. Where each element lies is found by MPI_Pack of a list of numbers.
 */
#include "check.h"

enum { kElements = 3000, kSpan = 4 * kElements, kBytes = kSpan * 8 };

static struct window window;
static double sent[kSpan], got[kSpan];
static int numbers[kSpan], here[kElements], there[kElements];

static MPI_Datatype vector_type(MPI_Datatype basic) {
  MPI_Datatype type;
  MPI_Type_vector(kElements / 3, 3, 7, basic, &type);
  return type;
}

static MPI_Datatype indexed_type(MPI_Datatype basic) {
  static int lengths[kElements / 2], places[kElements / 2];
  MPI_Datatype type;
  int at = 1;
  for (int i = 0; i < kElements / 2; ++i) {
    lengths[i] = i % 3 + 1;
    places[i] = at;
    at += lengths[i] + i % 5;
  }
  MPI_Type_indexed(kElements / 2, lengths, places, basic, &type);
  return type;
}

/* From the back to the front. */
static MPI_Datatype backward_type(MPI_Datatype basic) {
  static int places[kElements];
  MPI_Datatype type;
  for (int i = 0; i < kElements; ++i) places[i] = kSpan - 1 - 3 * i;
  MPI_Type_create_indexed_block(kElements, 1, places, basic, &type);
  return type;
}

static MPI_Datatype subarray_type(MPI_Datatype basic) {
  const int sizes[3] = {15, 20, 30}, parts[3] = {10, 15, 20}, starts[3] = {2, 3, 5};
  MPI_Datatype type;
  MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, basic, &type);
  return type;
}

static MPI_Datatype struct_type(MPI_Datatype basic) {
  MPI_Datatype strided, row, type;
  MPI_Aint size, lower;
  MPI_Type_get_extent(basic, &lower, &size);
  MPI_Type_create_hvector(500, 2, 4 * size, basic, &strided);
  MPI_Type_contiguous(1000, basic, &row);
  const int lengths[3] = {1, 2, 0};
  const MPI_Aint places[3] = {8000 * size, size, 0};
  const MPI_Datatype types[3] = {strided, row, basic};
  MPI_Type_create_struct(3, lengths, places, types, &type);
  MPI_Type_free(&strided);
  MPI_Type_free(&row);
  return type;
}

static MPI_Datatype contiguous_type(MPI_Datatype basic) {
  MPI_Datatype type;
  MPI_Type_contiguous(kElements, basic, &type);
  return type;
}

struct shape {
  const char* name;
  MPI_Datatype (*make)(MPI_Datatype);
};
static const struct shape kShapes[] = {
    {"vector", vector_type},     {"indexed", indexed_type}, {"backward", backward_type},
    {"subarray", subarray_type}, {"struct", struct_type},   {"contiguous", contiguous_type}};
enum { kShapesCount = sizeof kShapes / sizeof *kShapes };

/* places[i]: where element i of this shape lies. */
static int find_places(const struct shape* shape, int* places) {
  MPI_Datatype type = shape->make(MPI_INT);
  int size, at = 0;
  MPI_Type_commit(&type);
  MPI_Type_size(type, &size);
  check_true("the shape fits", size <= kElements * (int)sizeof(int));
  MPI_Pack(numbers, 1, type, places, size, &at, MPI_COMM_SELF);
  MPI_Type_free(&type);
  return size / (int)sizeof(int);
}

enum { kPut, kGet, kAccumulate, kGetAccumulate, kVerbs };

static void issue(int verb, int next, MPI_Datatype a, MPI_Datatype b) {
  MPI_Win_lock(MPI_LOCK_SHARED, next, 0, window.win);
  if (verb == kPut) MPI_Put(sent, 1, a, next, 0, 1, b, window.win);
  if (verb == kGet) MPI_Get(got, 1, a, next, 0, 1, b, window.win);
  if (verb == kAccumulate) MPI_Accumulate(sent, 1, a, next, 0, 1, b, MPI_SUM, window.win);
  if (verb == kGetAccumulate)
    MPI_Get_accumulate(sent, 1, a, got, 1, a, next, 0, 1, b, MPI_SUM, window.win);
  MPI_Win_unlock(next, window.win);
}

static void check_side(int verb, int count) {
  static double expected[kSpan];
  const double* memory = (const double*)window.base;
  const int next = (my_rank + 1) % ranks, previous = (my_rank + ranks - 1) % ranks;
  for (int i = 0; i < kSpan; ++i) expected[i] = my_rank * 100000.0 + i;
  for (int i = 0; i < count && verb != kGet; ++i) {
    const double value = previous * 1000000.0 + here[i];
    expected[there[i]] = verb == kPut ? value : expected[there[i]] + value;
  }
  lock_own(window.win, my_rank);
  for (int i = 0; i < kSpan; ++i) check_real("memory", i, expected[i], memory[i]);
  unlock_own(window.win, my_rank);
  for (int i = 0; i < kSpan; ++i) expected[i] = -1;
  for (int i = 0; i < count && (verb == kGet || verb == kGetAccumulate); ++i)
    expected[here[i]] = next * 100000.0 + there[i];
  for (int i = 0; i < kSpan; ++i) check_real("got", i, expected[i], got[i]);
}

static void run_pair(const struct shape* origin, const struct shape* target, int verb) {
  at_step("verb %d from %s to %s on %s", verb, origin->name, target->name,
          kMemoryNames[window.kind]);
  const int count = find_places(origin, here);
  if (find_places(target, there) != count) return;
  MPI_Datatype a = origin->make(MPI_DOUBLE), b = target->make(MPI_DOUBLE);
  MPI_Type_commit(&a);
  MPI_Type_commit(&b);
  for (int i = 0; i < kSpan; ++i) sent[i] = my_rank * 1000000.0 + i, got[i] = -1;
  lock_own(window.win, my_rank);
  for (int i = 0; i < kSpan; ++i) ((double*)window.base)[i] = my_rank * 100000.0 + i;
  unlock_own(window.win, my_rank);
  meet();
  issue(verb, (my_rank + 1) % ranks, a, b);
  meet();
  MPI_Type_free(&a);
  MPI_Type_free(&b);
  check_side(verb, count);
  meet();
}

static void run_verb(int verb) {
  for (int i = 0; i < kSpan; ++i) numbers[i] = i;
  for (int kind = 0; kind < kStatic; ++kind) {
    window = (struct window){.kind = (enum memory_kind)kind, .unit = 1, .size = kBytes};
    open_window(&window, MPI_COMM_WORLD, MPI_INFO_NULL);
    /* Each shape at each side, not with each other one. */
    for (int i = 0; i < kShapesCount; ++i) {
      run_pair(&kShapes[i], &kShapes[i], verb);
      run_pair(&kShapes[i], &kShapes[(i + 1) % kShapesCount], verb);
      run_pair(&kShapes[kShapesCount - 1], &kShapes[i], verb);
    }
    close_window(&window);
  }
}

static void run_put(void) { run_verb(kPut); }
static void run_get(void) { run_verb(kGet); }
static void run_accumulate(void) { run_verb(kAccumulate); }
static void run_get_accumulate(void) { run_verb(kGetAccumulate); }

int main(int argc, char** argv) {
  const struct test_case cases[] = {{"put", run_put},
                                    {"get", run_get},
                                    {"accumulate", run_accumulate},
                                    {"get_accumulate", run_get_accumulate},
                                    {NULL, NULL}};
  MPI_Init(&argc, &argv);
  return run_cases(argc, argv, cases);
}
