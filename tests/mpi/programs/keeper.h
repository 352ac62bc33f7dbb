/*
 * A keeper of each rank, so that a job stands that ranks are killed.
 *
 *   a rank: joined -- it is killed by SIGKILL --> gone -- its keeper --> exit 0, so the job goes on
 *           joined -- it exits 0, without MPI_Finalize, which would wait for the dead
 *
 * A keeper is the process that mpiexec has started; the rank is its child. MPICH 4.0's mpiexec ends
 * the whole job when a process that it has started ends by a signal, also with
 * -disable-auto-cleanup; of a keeper that exits it tells the others by SIGUSR1 and goes on.
 * Owner: the program. Threads: one.
 */
#pragma once

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kMostSeconds = 50 };

/* Before MPI_Init(), or it would be in both processes. */
static void begin_under_keeper(void) {
  const pid_t child = fork();
  int status = 0;
  if (child < 0) abort();
  if (child == 0) {
    alarm(kMostSeconds); /* nobody waits for a rank that waits for ever */
    return;
  }
  signal(SIGUSR1, SIG_IGN);
  if (waitpid(child, &status, 0) != child) _exit(1);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) _exit(0);
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}
