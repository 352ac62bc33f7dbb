/* A Kronecker graph of the Graph500 kind, of which every rank can make every edge.
 *
 * 2^scale vertices and 16 edges for each; of the four quarters of the matrix an edge falls, bit by
 * bit, into the first with .57, the second and third with .19 each. The numbers of the vertices are
 * then permuted. Seed and scale alone decide, so ranks need not exchange anything. Edges go both
 * ways; those that came out twice stay, those from a vertex to itself are left out.
 *
 * A part has the neighbours of the vertices from `first` on, `count` of them: those of vertex
 * first + i are neighbours[starts[i]] to neighbours[starts[i + 1] - 1].
 * Owner: who calls make_part(), who releases it. Threads: one.
 */
#pragma once

#include "mpi_common.h"

enum { kEdgesOfVertex = 16, kMostScale = 22 };

typedef struct Part {
  int64_t first, count;
  int64_t *starts, *neighbours;
} Part;

/* The n-th random number of a seed (SplitMix64). */
uint64_t random_of(uint64_t seed, uint64_t n);

Part make_part(int scale, uint64_t seed, int64_t first, int64_t count);
void release_part(Part* part);

static inline int64_t degree_in(const Part* part, int64_t vertex) {
  return part->starts[vertex - part->first + 1] - part->starts[vertex - part->first];
}
