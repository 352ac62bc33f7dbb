/*
 * The sender of an active message is killed: between its header and its payload, or while that
 * lands. Its target's completion handler hears of it, and quiescence says so to all who are left.
 *
 *   am_kills ours CASE
 *
 * Rank 1 is killed, rank 0 is its target. Survivors print a line each, and rank 0 "ok CASE". Of how
 * the job ends nothing follows.
 */
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "am.h"
#include "keeper.h"

enum { kBytes = 64 << 20, kChunk = 64 << 10 };
struct asked {
  int pid; /* of the sender, to be killed; 0: it is told to die when a part has come */
};
static MPIX_Am am;
static unsigned char* memory;
static volatile int parts, is_over;
static int last_error;

static void nap(void) {
  const struct timespec millisecond = {0, 1000000};
  nanosleep(&millisecond, NULL);
}

/* Nothing can be read of it any more. */
static void await_death(int pid) {
  char path[64], text[256];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  for (;;) {
    FILE* const file = fopen(path, "r");
    if (file == NULL) return;
    const char* const line = fgets(text, sizeof text, file);
    fclose(file);
    if (line == NULL) return;
    const char* const state = strrchr(line, ')');
    if (state != NULL && (state[2] == 'Z' || state[2] == 'X')) return;
    nap();
  }
}

static int hear_of_it(void* argument, const MPIX_Am_part* part) {
  const struct asked die = {-1};
  (void)argument;
  check_equal("not behind its end", 0, is_over);
  if (parts++ == 0 && part->error == MPI_SUCCESS) send_to(1, part_of(&die, sizeof die), none, am);
  last_error = part->error;
  if (part->error == MPI_SUCCESS) nap();
  is_over = part->is_last;
  return MPI_SUCCESS;
}
static int kill_or_die(void* user, const MPIX_Am_message* message, MPIX_Am_landing* landing) {
  const struct asked* const asked = message->immediate;
  (void)user;
  if (asked->pid == -1) raise(SIGKILL);
  if (asked->pid != 0) {
    kill(asked->pid, SIGKILL);
    await_death(asked->pid);
  }
  landing->buffer = memory;
  landing->count = message->payload_bytes;
  landing->chunk_bytes = kChunk;
  landing->comp_handler = hear_of_it;
  return MPI_SUCCESS;
}

/* What starts the ranks may end those that are left when one ends, so both survivors end together.
 */
static int pids[kMostRanks];
static volatile sig_atomic_t other_is_through;
static void note(int signal_number) {
  (void)signal_number;
  other_is_through = 1;
}
static __attribute__((noreturn)) void leave_together(void) {
  fflush(NULL);
  kill(pids[2 - my_rank], SIGUSR2);
  while (!other_is_through) nap();
  _exit(0);
}

static void send_and_die(int pid) {
  const struct asked asked = {pid};
  memory = must_have(malloc(kBytes));
  memset(memory, my_rank + 1, kBytes);
  am = join(kill_or_die, NULL, 1, MPI_COMM_WORLD);
  signal(SIGUSR2, note);
  const int own = (int)getpid();
  MPI_Allgather(&own, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  meet();
  if (my_rank == 1) {
    send_to(0, part_of(&asked, sizeof asked), part_of(memory, kBytes), am);
    for (;;) nap();
  }
  if (my_rank == 0) {
    await_word(&is_over);
    check_true("the completion handler hears of an error", last_error != MPI_SUCCESS);
    check_true("not all of it has come", parts <= kBytes / kChunk);
  }
  check_refused("quiescence", MPI_ERR_OTHER, "a member has ended", MPIX_Am_quiesce(MPI_COMM_WORLD));
  check_refused("once more", MPI_ERR_OTHER, "a member has ended", MPIX_Am_quiesce(MPI_COMM_WORLD));
  check_refused("MPIX_Am_free", MPI_ERR_OTHER, "a member has ended", MPIX_Am_free(&am));
  check_true("it is freed", am == MPIX_AM_NULL);
  printf("survivor %d\n", my_rank);
  if (my_rank == 0) printf("ok %s\n", case_name);
  leave_together();
}
static void run_between(void) { send_and_die((int)getpid()); }
static void run_during(void) { send_and_die(0); }

int main(int argc, char** argv) {
  const struct test_case cases[] = {
      {"killed_between", run_between}, {"killed_during", run_during}, {NULL, NULL}};
  begin_under_keeper();
  MPI_Init(&argc, &argv);
  return run_cases(argc, argv, cases);
}
