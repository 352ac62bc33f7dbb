// Cores of PEs. photonrun gives each process its cores; the options of the original are taken from
// argv, so that programs do not meet them.
#include "converse/base/pe.hpp"

void CmiInitCPUAffinity(char** argv) {
  char* map = nullptr;
  int core = 0;
  if (argv == nullptr) return;
  CmiGetArgFlag(argv, "+setcpuaffinity");
  CmiGetArgString(argv, "+pemap", &map);
  CmiGetArgString(argv, "+commap", &map);
  while (CmiGetArgInt(argv, "+excludecore", &core) != 0) {
  }
}

void CmiInitCPUTopology(char** argv) {
  if (argv == nullptr) return;
  CmiGetArgFlag(argv, "+skip_cpu_topology");
  CmiGetArgFlag(argv, "+show_cpu_topology");
}
