/*
 * The forms of MPI 4 whose counts an int does not hold. Rank 0's memory is larger than an int can
 * say; few pages of it are touched. Compiled for an MPI that has these forms alone.
 */
#include "check.h"

static const MPI_Count kMany = ((MPI_Count)1 << 31) + 10;
static const MPI_Aint kLargeBytes = (MPI_Aint)3 << 30;
enum { kStrided = 4 };

static MPI_Win win;
static long long* memory;

static MPI_Aint my_bytes(void) { return my_rank == 0 ? kLargeBytes : 64; }

/* Of rank 0; the last rank writes and reads. */
static void open_large(int kind) {
  at_step("on %s", kMemoryNames[kind]);
  if (kind == kAllocated) {
    MPI_Win_allocate_c(my_bytes(), 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  } else {
    memory = must_have(malloc((size_t)my_bytes()));
    MPI_Win_create_c(memory, my_bytes(), 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  }
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
}
static void close_large(int kind) {
  MPI_Win_free(&win);
  if (kind != kAllocated) free(memory);
}
static int is_origin(void) { return my_rank == ranks - 1; }

/* One element each 512 MiB. */
static MPI_Datatype strided(void) {
  MPI_Datatype type;
  MPI_Type_create_hvector_c(kStrided, 1, (MPI_Count)1 << 29, MPI_LONG_LONG, &type);
  MPI_Type_commit(&type);
  return type;
}
/* Without data, but so many of it. */
static MPI_Datatype empty(void) {
  MPI_Datatype none, type;
  MPI_Type_contiguous_c(0, MPI_LONG_LONG, &none);
  MPI_Type_contiguous_c(kMany, none, &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&none);
  return type;
}

static void window_forms(void) {
  for (int kind = kAllocated; kind <= kMalloc; kind += kMalloc - kAllocated) {
    MPI_Aint *size, found = -1, unit = -1;
    int is_there = 0;
    void* base;
    open_large(kind);
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &is_there);
    check_true("there is a size", is_there);
    check_equal("its size", my_bytes(), *size);
    if (kind == kAllocated && is_ours) {
      MPI_Win_shared_query_c(win, 0, &found, &unit, &base);
      check_equal("the size of rank 0", kLargeBytes, found);
      check_equal("the unit of rank 0", 8, unit);
      check_true("rank 0 is mapped", base != NULL);
      if (my_rank == 0) check_true("at its own address", base == memory);
    }
    close_large(kind);
  }
}

/* Some members say a unit that an int does not hold, others do not: all decide the same. */
static void large_units(void) {
  const MPI_Aint unit = my_rank == 0 ? ((MPI_Aint)1 << 31) + 8 : 8;
  MPI_Info info;
  char value[MPI_MAX_INFO_VAL + 1] = "";
  int is_there = 0;
  if (!is_ours) return;
  at_step("units of %lld", (long long)unit);
  MPI_Win_allocate_c(64, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Win_get_info(win, &info);
  MPI_Info_get(info, "photon_async", MPI_MAX_INFO_VAL, value, &is_there);
  MPI_Info_free(&info);
  check_true("it is MPI's", is_there && strcmp(value, "false") == 0);
  MPI_Win_free(&win);
}

static void check_words(const char* what, MPI_Aint first, long long begin, long long step) {
  for (int i = 0; i < kStrided; ++i) {
    const MPI_Aint at = first + ((MPI_Aint)i << 26);
    long long found = -1;
    MPI_Get_c(&found, 1, MPI_LONG_LONG, 0, at, 1, MPI_LONG_LONG, win);
    MPI_Win_flush(0, win);
    check_at(what, i, begin + i * step, found);
  }
}

/* Far apart, and from a displacement on that is more than 2^31 bytes. */
static void do_strided(int has_requests) {
  const MPI_Datatype far = strided();
  const MPI_Aint first = ((MPI_Aint)1 << 26) * 2 + 3;
  const long long one[kStrided] = {1, 2, 3, 4};
  long long found[kStrided] = {0};
  MPI_Request request;
  MPI_Count bytes = 0;
  MPI_Type_size_c(far, &bytes);
  check_equal("data of the type", 32, bytes);
  if (has_requests) {
    MPI_Rput_c(one, kStrided, MPI_LONG_LONG, 0, first, 1, far, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_flush(0, win);
    MPI_Raccumulate_c(one, kStrided, MPI_LONG_LONG, 0, first, 1, far, MPI_SUM, win, &request);
  } else {
    MPI_Put_c(one, kStrided, MPI_LONG_LONG, 0, first, 1, far, win);
    MPI_Win_flush(0, win);
    MPI_Accumulate_c(one, kStrided, MPI_LONG_LONG, 0, first, 1, far, MPI_SUM, win);
  }
  if (has_requests) MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_flush(0, win);
  check_words("put and accumulated", first, 2, 2);
  if (has_requests) {
    MPI_Rget_accumulate_c(one, kStrided, MPI_LONG_LONG, found, kStrided, MPI_LONG_LONG, 0, first, 1,
                          far, MPI_SUM, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Get_accumulate_c(one, kStrided, MPI_LONG_LONG, found, kStrided, MPI_LONG_LONG, 0, first, 1,
                         far, MPI_SUM, win);
  }
  MPI_Win_flush(0, win);
  for (int i = 0; i < kStrided; ++i) check_at("fetched", i, 2 * (i + 1), found[i]);
  check_words("accumulated twice", first, 3, 3);
  if (has_requests) {
    MPI_Rget_c(found, kStrided, MPI_LONG_LONG, 0, first, 1, far, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Get_c(found, kStrided, MPI_LONG_LONG, 0, first, 1, far, win);
  }
  MPI_Win_flush(0, win);
  for (int i = 0; i < kStrided; ++i) check_at("got", i, 3 * (i + 1), found[i]);
  MPI_Type_free((MPI_Datatype[]){far});
}

/* So many elements that hold nothing: nothing is touched, at null as well. */
static void do_empty(void) {
  const MPI_Datatype none = empty();
  const long long mark = 4711;
  MPI_Request requests[2];
  MPI_Put_c(&mark, 1, MPI_LONG_LONG, 0, 0, 1, MPI_LONG_LONG, win);
  MPI_Win_flush(0, win);
  check_equal("Put_c", MPI_SUCCESS, MPI_Put_c(NULL, kMany, none, 0, 0, kMany, none, win));
  check_equal("Get_c", MPI_SUCCESS, MPI_Get_c(NULL, kMany, none, 0, 0, kMany, none, win));
  check_equal("Rput_c", MPI_SUCCESS,
              MPI_Rput_c(NULL, kMany, none, 0, 0, kMany, none, win, &requests[0]));
  check_equal("Rget_c", MPI_SUCCESS,
              MPI_Rget_c(NULL, kMany, none, 0, 0, kMany, none, win, &requests[1]));
  for (int i = 0; i < 2; ++i) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  MPI_Win_flush(0, win);
  long long found = 0;
  MPI_Get_c(&found, 1, MPI_LONG_LONG, 0, 0, 1, MPI_LONG_LONG, win);
  MPI_Win_flush(0, win);
  check_equal("the first word", mark, found);
  MPI_Type_free((MPI_Datatype[]){none});
}

static void operations(void) {
  for (int kind = kAllocated; kind <= kMalloc; kind += kMalloc - kAllocated) {
    open_large(kind);
    MPI_Win_lock_all(0, win);
    meet();
    if (is_origin()) {
      do_strided(0);
      do_strided(1);
      do_empty();
    }
    meet();
    MPI_Win_unlock_all(win);
    close_large(kind);
  }
}

/* What an int would cut to a count that fits. */
static void too_many(void) {
  const MPI_Count cut = ((MPI_Count)1 << 32) + 1, wraps = ((MPI_Count)1 << 61) + 1;
  long long one = 1, found = 0;
  if (!is_ours) return; /* MPI does not say what becomes of them */
  for (int kind = kAllocated; kind <= kMalloc; kind += kMalloc - kAllocated) {
    open_large(kind);
    MPI_Win_lock_all(0, win);
    meet();
    if (is_origin()) {
      check_equal("Put_c beyond the end", MPI_ERR_RMA_RANGE,
                  class_of(MPI_Put_c(&one, cut, MPI_BYTE, 0, 0, cut, MPI_BYTE, win)));
      check_equal("Get_c beyond the end", MPI_ERR_RMA_RANGE,
                  class_of(MPI_Get_c(&found, cut, MPI_BYTE, 0, 0, cut, MPI_BYTE, win)));
      check_equal("Accumulate_c beyond the end", MPI_ERR_RMA_RANGE,
                  class_of(MPI_Accumulate_c(&one, cut, MPI_LONG_LONG, 0, 0, cut, MPI_LONG_LONG,
                                            MPI_SUM, win)));
      check_equal(
          "Get_accumulate_c beyond the end", MPI_ERR_RMA_RANGE,
          class_of(MPI_Get_accumulate_c(&one, cut, MPI_LONG_LONG, &found, cut, MPI_LONG_LONG, 0, 0,
                                        cut, MPI_LONG_LONG, MPI_SUM, win)));
      check_true("Put_c of more than there is memory",
                 MPI_Put_c(&one, wraps, MPI_LONG_LONG, 0, 0, 1, MPI_LONG_LONG, win) != MPI_SUCCESS);
      check_true(
          "Get_c to more than there is memory",
          MPI_Get_c(&found, wraps, MPI_LONG_LONG, 0, 0, 1, MPI_LONG_LONG, win) != MPI_SUCCESS);
      check_equal("got", 0, found);
      MPI_Get_c(&found, 1, MPI_LONG_LONG, 0, 0, 1, MPI_LONG_LONG, win);
      MPI_Win_flush(0, win);
      check_equal("the first word", 0, found);
    }
    meet();
    MPI_Win_unlock_all(win);
    close_large(kind);
  }
}

int main(int argc, char** argv) {
  const struct test_case cases[] = {{"window_forms", window_forms},
                                    {"large_units", large_units},
                                    {"operations", operations},
                                    {"too_many", too_many},
                                    {NULL, NULL}};
  MPI_Init(&argc, &argv);
  return run_cases(argc, argv, cases);
}
