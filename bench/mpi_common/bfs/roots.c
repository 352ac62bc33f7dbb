#include "roots.h"

enum { kMostSerialScale = 12 };

/* The next vertex, of the random ones, that has an edge. */
static int64_t next_root(const Search* search, uint64_t seed, uint64_t* tried) {
  for (;;) {
    const uint64_t chosen = random_of(random_of(seed, 2), (*tried)++);
    const int64_t root = (int64_t)(chosen % (uint64_t)search->vertices);
    const int owner = owner_of(search, root);
    int has_edge = owner == search->rank && degree_in(&search->part, root) != 0;
    MPI_Bcast(&has_edge, 1, MPI_INT, owner, MPI_COMM_WORLD);
    if (has_edge) return root;
  }
}

/* Whether there is time for another one, as rank 0 finds. */
static int goes_on(uint64_t begun_ns, int limit_s) {
  int yes = ns_between(begun_ns, now_ns()) < 1e9 * limit_s;
  MPI_Bcast(&yes, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return yes;
}

static void check_edges(const Search* search) {
  int64_t edges = search->part.starts[search->part.count];
  MPI_Allreduce(MPI_IN_PLACE, &edges, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  if (edges == 0) fail("no two vertices have an edge; take another seed or scale");
}

/* How long it took, in us. */
static double take_root(Search* search, const Way* way, const Part* whole, int64_t root,
                        WayFound* found) {
  const double us = search_from(search, way, root) * 1e6;
  const double edges = (double)check_tree(search, root, whole);
  MPI_Allreduce(&search->accumulates, &found->accumulates, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  if (edges / us * 1e6 > found->best_teps) {
    found->best_us = us;
    found->best_teps = edges / us * 1e6;
  }
  return us;
}

void measure_roots(Search* search, const Roots* roots, WayFound* found) {
  const uint64_t begun_ns = now_ns();
  const int has_whole = search->rank == 0 && search->scale <= kMostSerialScale;
  static double all_us[kMostWays][kMostRoots];
  Part whole = {0, 0, NULL, NULL};
  if (has_whole) whole = make_part(search->scale, roots->seed, 0, search->vertices);
  uint64_t tried = 0;
  size_t count = 0;
  check_edges(search);
  for (int way = 0; roots->ways[way] != NULL; ++way) found[way] = (WayFound){0};
  do {
    const int64_t root = next_root(search, roots->seed, &tried);
    for (int way = 0; roots->ways[way] != NULL; ++way)
      all_us[way][count] =
          take_root(search, roots->ways[way], has_whole ? &whole : NULL, root, &found[way]);
    ++count;
  } while ((long)count < roots->roots && goes_on(begun_ns, roots->limit_s));
  for (int way = 0; roots->ways[way] != NULL; ++way) {
    found[way].median_us = median_of(all_us[way], count);
    found[way].roots = count;
  }
  if (has_whole) release_part(&whole);
}
