/**
 * The spanning trees of a job, by which programs pass messages on: PE 0, or process 0, is the root,
 * and each has at most four children. A part of converse.h. Each call may be made by any thread.
 */
#ifndef CONVERSE_TREE_H
#define CONVERSE_TREE_H

#define CMI_SPANTREE_BRANCHES 4

static inline int CmiTreeParentOf(int number) {
  return number <= 0 ? -1 : (number - 1) / CMI_SPANTREE_BRANCHES;
}

static inline int CmiTreeCountChildrenOf(int number, int all) {
  const int64_t first = (int64_t)number * CMI_SPANTREE_BRANCHES + 1;
  if (first >= all) return 0;
  return all - first < CMI_SPANTREE_BRANCHES ? (int)(all - first) : CMI_SPANTREE_BRANCHES;
}

static inline void CmiTreeChildrenOf(int number, int all, int* children) {
  const int count = CmiTreeCountChildrenOf(number, all);
  for (int i = 0; i < count; ++i) children[i] = number * CMI_SPANTREE_BRANCHES + 1 + i;
}

/** The parent of a PE; -1 for the root. */
static inline int CmiSpanTreeParent(int pe) { return CmiTreeParentOf(pe); }
static inline int CmiNumSpanTreeChildren(int pe) { return CmiTreeCountChildrenOf(pe, CmiNumPes()); }
/** Writes as many as CmiNumSpanTreeChildren() says. */
static inline void CmiSpanTreeChildren(int pe, int* children) {
  CmiTreeChildrenOf(pe, CmiNumPes(), children);
}

/** The same of processes. */
static inline int CmiNodeSpanTreeParent(int node) { return CmiTreeParentOf(node); }
static inline int CmiNumNodeSpanTreeChildren(int node) {
  return CmiTreeCountChildrenOf(node, CmiNumNodes());
}
static inline void CmiNodeSpanTreeChildren(int node, int* children) {
  CmiTreeChildrenOf(node, CmiNumNodes(), children);
}

/** Memory for the time of a function, of malloc(). */
static inline void* CmiTmpAlloc(int size_bytes) {
  return size_bytes < 0 ? NULL : malloc((size_t)size_bytes + 1);
}
static inline void CmiTmpFree(void* memory) { free(memory); }

/** There are no messages that interrupt others: each waits for its turn. */
#define CMK_IMMEDIATE_MSG           0
#define CmiBecomeImmediate(message) ((void)(message))
#define CmiResetImmediate(message)  ((void)(message))
#define CmiIsImmediate(message)     ((void)(message), 0)
#define CmiProbeImmediateMsg()      ((void)0)

#endif
