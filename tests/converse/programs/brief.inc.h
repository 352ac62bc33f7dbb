/* The shortest program that is one: all PEs meet and end. It is started thousands of times. */
#include "program.inc.h"

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  begin_program("brief");
  finish_pe();
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
