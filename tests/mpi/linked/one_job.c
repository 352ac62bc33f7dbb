/*
 * The names MPIX_* beside MPI's own in one program. "ours": it is preloaded as well, so MPI's names
 * are Photon's, too. Its main() calls MPIX_Init() itself, too early, and more than once.
 */
#include <photon/photon_mpi.h>

#include "../programs/check.h"

enum { kSlots = 8 };

typedef int (*get_info)(MPI_Win, MPI_Info*);

static int is_async(MPI_Win win, get_info get) {
  MPI_Info info;
  char value[MPI_MAX_INFO_VAL + 1] = "";
  int is_there = 0;
  get(win, &info);
  MPI_Info_get(info, "photon_async", MPI_MAX_INFO_VAL, value, &is_there);
  MPI_Info_free(&info);
  return is_there && strcmp(value, "true") == 0;
}

/* Each rank puts its number at its own place of each member. */
static void put_all(MPI_Win win) {
  const long long mine = my_rank + 1;
  MPIX_Win_fence(MPI_MODE_NOPRECEDE, win);
  for (int target = 0; target < ranks; ++target)
    MPIX_Put(&mine, 1, MPI_LONG_LONG, target, my_rank, 1, MPI_LONG_LONG, win);
  MPIX_Win_fence(MPI_MODE_NOSUCCEED, win);
}

static void check_puts(const long long* base) {
  for (int origin = 0; origin < ranks; ++origin)
    check_at("what was put", origin, origin + 1, base[origin]);
}

/* A window of Photon's is Photon's by either name where it is preloaded: there is one job. */
static void one_job(void) {
  long long* base = NULL;
  MPI_Win win;
  MPIX_Win_allocate(kSlots * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  check_equal("MPIX_Win_get_info", 1, is_async(win, MPIX_Win_get_info));
  check_equal("MPI_Win_get_info", is_ours, is_async(win, MPI_Win_get_info));
  put_all(win);
  check_puts(base);
  MPIX_Win_free(&win);
  check_true("a freed window is MPI_WIN_NULL", win == MPI_WIN_NULL);
}

/* Windows of MPI's: each name passes on to MPI. */
static void passes_on(void) {
  long long* base = NULL;
  long long sum = 1;
  long long before = 0;
  MPI_Win win;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "photon_async", "false");
  MPI_Win_allocate(64 * 8, 8, info, MPI_COMM_WORLD, &base, &win);
  MPI_Info_free(&info);
  check_equal("MPIX_Win_get_info", 0, is_async(win, MPIX_Win_get_info));
  put_all(win);
  check_puts(base);
  meet();
  MPIX_Win_lock_all(0, win);
  for (int turn = 0; turn < 2; ++turn)
    MPIX_Fetch_and_op(&sum, &before, MPI_LONG_LONG, 0, 20, MPI_SUM, win);
  MPIX_Win_flush_all(win);
  MPIX_Win_unlock_all(win);
  MPIX_Win_free(&win);
}

/* Memory of either kind, freed by the name that knows both. */
static void memory(void) {
  void* one = NULL;
  void* other = NULL;
  MPIX_Alloc_mem(4096, MPI_INFO_NULL, &one);
  MPI_Alloc_mem(4096, MPI_INFO_NULL, &other);
  memset(one, 1, 4096);
  memset(other, 1, 4096);
  check_equal("MPIX_Free_mem of Photon's", MPI_SUCCESS, MPIX_Free_mem(one));
  check_equal("MPIX_Free_mem of MPI's", MPI_SUCCESS, MPIX_Free_mem(other));
}

static void init_again(void) {
  check_equal("MPIX_Init once more", MPI_SUCCESS, MPIX_Init());
  one_job();
}

static const struct test_case cases[] = {{"one_job", one_job},
                                         {"passes_on", passes_on},
                                         {"memory", memory},
                                         {"init_again", init_again},
                                         {NULL, NULL}};

int main(int argc, char** argv) {
  const int is_early_refused = MPIX_Init() != MPI_SUCCESS;
  MPI_Init(&argc, &argv);
  case_name = argv[0];
  at_step("before the cases");
  check_true("MPIX_Init() before MPI_Init() is refused", is_early_refused);
  check_equal("MPIX_Init()", MPI_SUCCESS, MPIX_Init());
  run_cases(argc, argv, cases);
  return MPIX_Init() == MPI_SUCCESS; /* MPI is over */
}
