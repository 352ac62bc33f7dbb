/* One PE ends the whole job by CmiExit(), while the others wait in their schedulers. */
#include <converse.h>

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  if (CmiMyPe() != CmiNumPes() - 1) return;
  CmiPrintf("ok job_exit\n");
  CmiExit(5);
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 1;
}
