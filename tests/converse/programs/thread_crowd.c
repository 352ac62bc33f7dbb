/* More threads on each PE than a process may have guard pages; all of them are suspended at once.
 */
#include <converse.h>

CpvStaticDeclare(int, over);

static void run(void* user) {
  CthSuspend();
  CpvAccess(over) += *(int*)user;
}

static void start(int argc, char** argv) {
  int count = 1000;
  int one = 1;
  (void)argc;
  CmiGetArgInt(argv, "-threads", &count);
  CpvInitialize(int, over);
  CpvAccess(over) = 0;
  CthThread* threads = malloc((size_t)count * sizeof *threads);
  for (int at = 0; at < count; ++at) {
    threads[at] = CthCreate(run, &one, 0);
    CthAwaken(threads[at]);
  }
  CsdScheduler(0);
  for (int at = 0; at < count; ++at) CthAwaken(threads[at]);
  CsdScheduler(0);
  if (CpvAccess(over) != count) CmiAbort("%d of %d threads are over", CpvAccess(over), count);
  free(threads);
  if (CmiMyPe() == 0) CmiPrintf("ok thread_crowd\n");
  ConverseExit();
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 1;
}
