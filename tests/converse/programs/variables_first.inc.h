/* One half of a program of two sources, one in C and one in C++: variables of both are used in
   both. This half has main(). */
#include "program.inc.h"

#include "variables_halves.inc.h"

CpvDeclare(int, of_first);
CpvDeclare(Point, point_of_first);
CpvStaticDeclare(int, hidden);
CsvDeclare(int, node_of_first);
CsvStaticDeclare(int, node_hidden);
CtvDeclare(int, thread_of_first);
CtvStaticDeclare(double, thread_hidden);
CpvExtern(int, of_second);
CpvExtern(Numbers, numbers_of_second);
CsvExtern(char*, node_of_second);
CtvExtern(Point, thread_of_second);

CpvDeclare(int, threads_ended);

static void run_thread(void* user) {
  const int number = (int)(size_t)user;
  expect_equal(CtvAccess(thread_of_first), 0, "fresh variable of a thread");
  CtvAccess(thread_of_first) = number;
  CtvAccess(thread_hidden) = number / 2.0;
  CtvAccess(thread_of_second).x = 10 * number;
  CtvAccess(thread_of_second).y = second_thread_sum();
  CthYield();
  expect_equal(second_thread_sum(), 11 * number, "variables of a thread as the second half sees");
  expect(CtvAccess(thread_hidden) == number / 2.0, "hidden variable of a thread");
  expect(CtvAccess(thread_of_second).y == 11 * number, "structure of a thread");
  CpvAccess(threads_ended) += 1;
  if (CpvAccess(threads_ended) == kThreads) finish_pe();
}

static void initialize(void) {
  CpvInitialize(int, of_first);
  CpvInitialize(Point, point_of_first);
  CpvInitialize(int, hidden);
  CpvInitialize(int, threads_ended);
  CsvInitialize(int, node_of_first);
  CsvInitialize(int, node_hidden);
  CtvInitialize(int, thread_of_first);
  CtvInitialize(double, thread_hidden);
  CpvAccess(of_first) = 100 + CmiMyPe();
  CpvAccess(point_of_first).x = CmiMyPe();
  CpvAccess(point_of_first).y = -CmiMyPe();
  CpvAccess(hidden) = 7;
  CpvAccess(threads_ended) = 0;
}

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  begin_program("variables");
  initialize();
  second_initialize();
  expect(CpvInitialized(of_first) && CpvInitialized(of_second), "variables that are initialized");
  expect(!second_is_late_initialized(), "a variable that nobody has initialized");
  CmiNodeBarrier();
  second_check();
  expect_equal(CpvAccess(of_second), 200 + CmiMyPe(), "variable of the second half");
  for (int i = 0; i < kNumbers; ++i)
    expect_equal(CpvAccess(numbers_of_second)[i], i * CmiMyPe(), "array of the second half");
  expect(strcmp(CsvAccess(node_of_second), "of the process") == 0, "words of the second half");
  if (CmiMyRank() == 0) CsvAccess(node_of_first) = 5 + CmiMyNode();
  if (CmiMyRank() == 0) CsvAccess(node_hidden) = 6;
  CmiNodeBarrier();
  expect_equal(CsvAccess(node_hidden), 6, "hidden variable of the process");
  expect_equal(CpvAccess(hidden), 7, "hidden variable, which the other half has, too");
  second_check_node();
  for (int i = 1; i <= kThreads; ++i) CthAwaken(CthCreate(run_thread, (void*)(size_t)i, 0));
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
