/* The other half. */
#include "variables_halves.inc.h"

CpvDeclare(int, of_second);
CpvDeclare(Numbers, numbers_of_second);
CpvDeclare(int, late_of_second);
CpvStaticDeclare(int, hidden); /* another than that of the first half */
CsvDeclare(char*, node_of_second);
CtvDeclare(Point, thread_of_second);
CpvExtern(int, of_first);
CpvExtern(Point, point_of_first);
CsvExtern(int, node_of_first);
CtvExtern(int, thread_of_first);

static char words[] = "of the process";

void second_initialize(void) {
  CpvInitialize(int, of_second);
  CpvInitialize(Numbers, numbers_of_second);
  CpvInitialize(int, hidden);
  CsvInitialize(char*, node_of_second);
  CtvInitialize(Point, thread_of_second);
  CpvAccess(of_second) = 200 + CmiMyPe();
  CpvAccess(hidden) = 70;
  for (int i = 0; i < kNumbers; ++i) CpvAccess(numbers_of_second)[i] = i * CmiMyPe();
  if (CmiMyRank() == 0) CsvAccess(node_of_second) = words;
}

int second_is_late_initialized(void) { return CpvInitialized(late_of_second); }

void second_check(void) {
  if (CpvAccess(of_first) != 100 + CmiMyPe() || CpvAccess(hidden) != 70 ||
      CpvAccess(point_of_first).x != CmiMyPe() || CpvAccess(point_of_first).y != -CmiMyPe())
    CmiAbort("PE %d: the second half sees other variables of the first", CmiMyPe());
}

void second_check_node(void) {
  if (CsvAccess(node_of_first) != 5 + CmiMyNode())
    CmiAbort("PE %d: the second half sees another variable of the process", CmiMyPe());
}

int second_thread_sum(void) { return CtvAccess(thread_of_first) + CtvAccess(thread_of_second).x; }
