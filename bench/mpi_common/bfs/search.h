/* A breadth-first search whose ranks write into each other's windows, and the check of its tree.
 *
 * Vertices are dealt out in blocks. Each has one word in its owner's window: kNotReached, or
 * level * kVertices + parent, so that the smallest word is the one of the lowest level. In each
 * level a way carries the edges to vertices of other ranks; then the owner looks which of its
 * vertices are new. The way that is here:
 *
 *   fence; for each such edge one MPI_Accumulate of 8 bytes with MPI_MIN; fence
 *
 * Edges to vertices of the rank itself go to memory of its own, and join the words behind the
 * exchange: the standard forbids stores beside accumulates to the same word.
 *
 * Owner: main() has the one Search. Threads: the program's one.
 */
#pragma once

#include "kronecker.h"

static const int64_t kNotReached = INT64_MAX;
static const int64_t kVertices = INT64_C(1) << 32; /* more than there are of any scale */

struct Search;

typedef struct Way {
  const char* name;
  void (*exchange)(struct Search* search, int64_t level); /* all edges out of the queue */
} Way;

typedef struct Search {
  int rank, ranks, scale;
  int64_t vertices, block; /* all of them; of a rank */
  Part part;
  MPI_Win window;
  int64_t* words; /* the window: part.count of them */
  int64_t* found; /* edges to vertices of this rank itself */
  int64_t* sent;  /* what this rank accumulates, until the fence; by place in the queue */
  int64_t* queue;
  int64_t queued, accumulates;
  int is_created;      /* window memory from malloc */
  struct Lists* lists; /* of ways that gather edges; theirs */
} Search;

/* An edge out of the queue's place `from` to a vertex of another rank, which is its `to`-th. */
typedef struct Outer {
  int owner;
  int64_t from, to, word;
} Outer;

static inline int owner_of(const Search* search, int64_t vertex) {
  return (int)(vertex / search->block);
}

static inline int64_t level_in(int64_t word) { return word / kVertices; }
static inline int64_t parent_in(int64_t word) { return word % kVertices; }

extern const Way kAccumulates; /* of 8 bytes, one for each edge */

/* Offers the level to the rank's own vertices, and hands every other edge to `send`. */
static inline void walk_level(Search* search, int64_t level, void (*send)(Search*, const Outer*)) {
  for (int64_t i = 0; i < search->part.count; ++i) search->found[i] = kNotReached;
  for (int64_t i = 0; i < search->queued; ++i) {
    const int64_t place = search->queue[i];
    const int64_t word = (level + 1) * kVertices + search->part.first + place;
    search->sent[i] = word;
    for (int64_t edge = search->part.starts[place]; edge < search->part.starts[place + 1]; ++edge) {
      const int64_t to = search->part.neighbours[edge];
      const Outer outer = {owner_of(search, to), i, to % search->block, word};
      if (outer.owner != search->rank)
        send(search, &outer);
      else if (word < search->found[outer.to])
        search->found[outer.to] = word;
    }
  }
}

void open_search(Search* search, uint64_t seed);
void close_search(Search* search);

/* All levels from the root on, by that way; seconds of the rank that took longest. */
double search_from(Search* search, const Way* way, int64_t root);

/* Ends the job with words if the tree is none of that root; how many edges the search went over,
 * each once. Where rank 0 has the whole graph it searches alone, too, and levels are compared. */
int64_t check_tree(const Search* search, int64_t root, const Part* whole);
