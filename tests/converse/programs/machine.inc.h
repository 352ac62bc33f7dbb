/* Who and where the PEs are, clocks, and messages of all sizes that are made and freed. */
#include "program.inc.h"

enum { kAllocations = 4000, kHeld = 50 };

static void check_places(void) {
  int pes = 0;
  expect(CmiMyPe() >= 0 && CmiMyPe() < CmiNumPes(), "number of this PE");
  expect(CmiMyNode() >= 0 && CmiMyNode() < CmiNumNodes(), "number of this process");
  for (int node = 0; node < CmiNumNodes(); ++node) {
    expect_equal(CmiNodeFirst(node), pes, "first PE of a process");
    for (int rank = 0; rank < CmiNodeSize(node); ++rank, ++pes) {
      expect_equal(CmiNodeOf(pes), node, "process of a PE");
      expect_equal(CmiRankOf(pes), rank, "rank of a PE");
    }
  }
  expect_equal(pes, CmiNumPes(), "PEs of all processes");
  expect_equal(CmiNodeSize(CmiMyNode()), CmiMyNodeSize(), "PEs of this process");
  expect_equal(CmiNodeFirst(CmiMyNode()) + CmiMyRank(), CmiMyPe(), "this PE");
  expect(CmiNumCores() > 0, "cores");
  expect(CmiNumPhysicalNodes() >= 1 && CmiNumPhysicalNodes() <= CmiNumNodes(), "hosts");
  for (int host = 0; host < CmiNumPhysicalNodes(); ++host) {
    const int first = CmiGetFirstPeOnPhysicalNode(host);
    expect_equal(CmiPhysicalNodeID(first), host, "host of its first PE");
    expect(CmiPeOnSamePhysicalNode(first, first), "a PE on its own host");
    expect_equal(CmiPhysicalRank(first), 0, "place of the first PE of a host");
    expect(CmiNumPesOnPhysicalNode(host) >= 1, "PEs of a host");
  }
}

static void check_clocks(void) {
  double wall = CmiWallTimer();
  double processor = CmiCpuTimer();
  expect(wall >= 0 && wall < 600, "seconds since the start");
  expect(processor >= 0, "seconds of a processor");
  for (int i = 0; i < 2000; ++i) {
    const double now = CmiWallTimer();
    expect(now >= wall, "the clock went back");
    wall = now;
  }
  volatile double work = 1;
  const double until = CmiCpuTimer() + 0.002;
  while (CmiCpuTimer() < until) work = work * 1.0001 + 1e-9;
  expect(CmiCpuTimer() > processor, "work that takes no time of a processor");
  expect(CmiTimer() >= 0, "time");
}

static void check_memory(void) {
  char* held[kHeld] = {NULL};
  int sizes[kHeld] = {0};
  unsigned state = (unsigned)CmiMyPe() + 9;
  for (int i = 0; i < kAllocations; ++i) {
    const int place = draw(&state, kHeld);
    if (held[place] != NULL) {
      expect_pattern(held[place], sizes[place], place, "message that was held");
      CmiFree(held[place]);
    }
    sizes[place] = CmiMsgHeaderSizeBytes + draw(&state, 1 << draw(&state, 15));
    held[place] = (char*)CmiAlloc(sizes[place]);
    expect_equal(CmiSize(held[place]), sizes[place], "size of a message");
    expect((size_t)held[place] % 8 == 0, "alignment of a message");
    fill_pattern(held[place], sizes[place], place); /* its header, too: it goes nowhere */
  }
  for (int place = 0; place < kHeld; ++place)
    if (held[place] != NULL) CmiFree(held[place]);
  void* shared = CmiAlloc(100);
  for (int i = 0; i < 1000; ++i) CmiReference(shared);
  for (int i = 0; i < 1001; ++i) CmiFree(shared);
}

/* Each PE but the root is the child of its parent, and of nobody else. */
static void check_trees(void) {
  int children[4], parents = 0, all = 0;
  for (int pe = 0; pe < CmiNumPes(); ++pe) {
    const int count = CmiNumSpanTreeChildren(pe);
    all += count;
    CmiSpanTreeChildren(pe, children);
    for (int i = 0; i < count; ++i) {
      expect_equal(CmiSpanTreeParent(children[i]), pe, "parent of a child");
      parents += children[i] == CmiMyPe();
    }
  }
  expect_equal(parents, CmiMyPe() == 0 ? 0 : 1, "parents");
  expect_equal(all, CmiNumPes() - 1, "children");
  expect_equal(CmiSpanTreeParent(0), -1, "parent of the root");
  expect_equal(CmiNodeSpanTreeParent(0), -1, "parent of the first process");
  expect(CmiNumNodeSpanTreeChildren(0) <= 4, "children of the first process");
  char* const memory = (char*)CmiTmpAlloc(100);
  fill_pattern(memory, 100, 3);
  CmiTmpFree(memory);
}

static void start(int argc, char** argv) {
  (void)argc;
  begin_program("machine");
  CmiInitCPUAffinity(argv);
  CmiInitCPUTopology(argv);
  expect_equal(CmiMsgHeaderSizeInts * (long)sizeof(int), CmiMsgHeaderSizeBytes, "header in ints");
  check_places();
  check_clocks();
  check_memory();
  check_trees();
  finish_pe();
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
