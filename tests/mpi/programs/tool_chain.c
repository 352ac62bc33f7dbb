/*
 * Windows of both kinds under a tool that stands in the chain: one that its info leaves to MPI, and
 * one that is Photon's where its library is asked first.
 *
 *   two_windows: kMpisPuts into MPI's window, kOursPuts into the other
 *   refused_put: a put that a tool sends to PMPI goes past a window of Photon's: an error with
 * words second_thread: a call of MPI from a thread that the program has not asked MPI for
 */
#include <pthread.h>

#include "check.h"

enum { kMpisPuts = 3, kOursPuts = 5, kWords = 8 };

static int has_async(MPI_Win win) {
  MPI_Info info;
  char value[MPI_MAX_INFO_VAL + 1] = "";
  int is_there = 0;
  MPI_Win_get_info(win, &info);
  MPI_Info_get(info, "photon_async", MPI_MAX_INFO_VAL, value, &is_there);
  MPI_Info_free(&info);
  return is_there && strcmp(value, "true") == 0;
}

static void put_and_check(MPI_Win win, const long long* memory, int puts) {
  const int next = (my_rank + 1) % ranks;
  MPI_Win_fence(0, win);
  for (int i = 0; i < puts; ++i) {
    const long long value = 100 * my_rank + i;
    MPI_Put(&value, 1, MPI_LONG_LONG, next, i, 1, MPI_LONG_LONG, win);
    MPI_Win_fence(0, win);
  }
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  for (int i = 0; i < kWords; ++i)
    check_at("word", i, i < puts ? 100 * ((my_rank + ranks - 1) % ranks) + i : -1, memory[i]);
}

static void two_windows(void) {
  for (int is_mpis = 0; is_mpis < 2; ++is_mpis) {
    long long memory[kWords];
    MPI_Info info;
    MPI_Win win;
    at_step("window %d", is_mpis);
    memset(memory, -1, sizeof memory);
    MPI_Info_create(&info);
    if (is_mpis) MPI_Info_set(info, "photon_async", "false");
    MPI_Win_create(memory, sizeof memory, 8, info, MPI_COMM_WORLD, &win);
    MPI_Info_free(&info);
    check_equal("it is Photon's", is_ours && !is_mpis, has_async(win));
    put_and_check(win, memory, is_mpis ? kMpisPuts : kOursPuts);
    MPI_Win_free(&win);
  }
}

static void refused_put(void) {
  long long* memory;
  const long long value = 7;
  MPI_Win win;
  char words[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  check_equal("it is Photon's", 1, has_async(win));
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, my_rank, 0, win);
  memory[0] = 1;
  const int code = MPI_Put(&value, 1, MPI_LONG_LONG, my_rank, 0, 1, MPI_LONG_LONG, win);
  check_equal("a put that went past it", MPI_ERR_RMA_SYNC, class_of(code));
  MPI_Error_string(code, words, &length);
  check_true("with words", length > 0);
  check_equal("the word", 1, memory[0]);
  /* It goes on as if nothing had been. */
  MPI_Accumulate(&value, 1, MPI_LONG_LONG, my_rank, 0, 1, MPI_LONG_LONG, MPI_SUM, win);
  MPI_Win_unlock(my_rank, win);
  check_equal("the word", 8, memory[0]);
  MPI_Win_free(&win);
}

static void* ask(void* found) {
  /* By this name, since it is what Photon's library would call. */
  PMPI_Type_size(MPI_LONG_LONG, found);
  return NULL;
}
static void second_thread(void) {
  pthread_t thread;
  int size = 0;
  check_equal("start", 0, pthread_create(&thread, NULL, ask, &size));
  check_equal("join", 0, pthread_join(thread, NULL));
  check_equal("size", 8, size);
}

int main(int argc, char** argv) {
  const struct test_case cases[] = {{"two_windows", two_windows},
                                    {"refused_put", refused_put},
                                    {"second_thread", second_thread},
                                    {NULL, NULL}};
  MPI_Init(&argc, &argv);
  return run_cases(argc, argv, cases);
}
