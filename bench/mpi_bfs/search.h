/* A breadth-first search whose ranks write into each other's windows, and the check of its tree.
 *
 * Vertices are dealt out in blocks. Each has one word in its owner's window: kNotReached, or
 * level * kVertices + parent, so that the smallest word is the one of the lowest level. A level is
 *
 *   fence; for each edge out of it to a vertex of another rank one MPI_Accumulate of 8 bytes with
 *   MPI_MIN; fence; the owner looks which of its vertices are new
 *
 * Edges to vertices of the rank itself go to memory of its own, and join the words behind the
 * second fence: the standard forbids stores beside accumulates to the same word.
 *
 * Owner: main() has the one Search. Threads: the program's one.
 */
#pragma once

#include "kronecker.h"

static const int64_t kNotReached = INT64_MAX;
static const int64_t kVertices = INT64_C(1) << 32; /* more than there are of any scale */

typedef struct Search {
  int rank, ranks, scale;
  int64_t vertices, block; /* all of them; of a rank */
  Part part;
  MPI_Win window;
  int64_t* words; /* the window: part.count of them */
  int64_t* found; /* edges to vertices of this rank itself */
  int64_t* sent;  /* what this rank accumulates, until the fence */
  int64_t* queue;
  int64_t queued, accumulates;
  int is_created; /* window memory from malloc */
} Search;

static inline int owner_of(const Search* search, int64_t vertex) {
  return (int)(vertex / search->block);
}

static inline int64_t level_in(int64_t word) { return word / kVertices; }
static inline int64_t parent_in(int64_t word) { return word % kVertices; }

void open_search(Search* search, uint64_t seed);
void close_search(Search* search);

/* All levels from the root on; seconds of the rank that took longest. */
double search_from(Search* search, int64_t root);

/* Ends the job with words if the tree is none of that root; how many edges the search went over,
 * each once. Where rank 0 has the whole graph it searches alone, too, and levels are compared. */
int64_t check_tree(const Search* search, int64_t root, const Part* whole);
