/* Searches from random roots, by several ways in turns.
 *
 * Each root is a random vertex that has an edge, and each way searches from it before the next root
 * is chosen. Every tree is checked (check.c), up to scale 12 against a search without MPI, too.
 *
 * Owner: who calls has the results, one for each way. Threads: the program's one.
 */
#pragma once

#include "search.h"

enum { kMostRoots = 1000, kMostWays = 4 };

typedef struct Roots {
  const Way* const* ways; /* at most kMostWays, then NULL */
  uint64_t seed;
  long roots;
  int limit_s; /* no further root is begun afterwards */
} Roots;

typedef struct WayFound {
  double best_us, best_teps; /* of the root with the most edges traversed a second */
  double median_us;
  int64_t accumulates; /* of all ranks, from the last root */
  size_t roots;
} WayFound;

/* All ranks call it. `found` has an element for each way. */
void measure_roots(Search* search, const Roots* roots, WayFound* found);
