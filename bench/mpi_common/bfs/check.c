/* The check of a tree: a parent is a neighbour and of one level less; neighbours are both reached
 * or both not, and their levels differ by one at most; the root alone is of level 0. So everything
 * that can be reached is. Levels are those of a search without MPI, where rank 0 has the whole
 * graph.
 */
#include "search.h"

static int has_neighbour(const Part* part, int64_t place, int64_t wanted) {
  for (int64_t edge = part->starts[place]; edge < part->starts[place + 1]; ++edge)
    if (part->neighbours[edge] == wanted) return 1;
  return 0;
}

/* The words of all vertices, at each rank. */
static int64_t* gather_words(const Search* search) {
  const size_t count = (size_t)search->block * (size_t)search->ranks;
  int64_t* const mine = memory_of((size_t)search->block * sizeof(int64_t));
  int64_t* const all = memory_of(count * sizeof(int64_t));
  for (int64_t i = 0; i < search->block; ++i)
    mine[i] = i < search->part.count ? search->words[i] : kNotReached;
  MPI_Allgather(mine, (int)search->block, MPI_INT64_T, all, (int)search->block, MPI_INT64_T,
                MPI_COMM_WORLD);
  free(mine);
  return all;
}

static void check_parent(const Search* search, const int64_t* all, int64_t root, int64_t place) {
  const int64_t vertex = search->part.first + place, word = all[vertex];
  const int64_t parent = parent_in(word);
  if (vertex == root) {
    if (word != root)
      fail("root %lld is of level %lld", (long long)root, (long long)level_in(word));
    return;
  }
  if (parent >= search->vertices || !has_neighbour(&search->part, place, parent))
    fail("vertex %lld has no edge to its parent %lld", (long long)vertex, (long long)parent);
  if (all[parent] == kNotReached || level_in(all[parent]) + 1 != level_in(word))
    fail("vertex %lld is of level %lld, its parent %lld is not one above it", (long long)vertex,
         (long long)level_in(word), (long long)parent);
}

static void check_neighbours(const Search* search, const int64_t* all, int64_t place) {
  const Part* const part = &search->part;
  const int64_t vertex = part->first + place, word = all[vertex];
  for (int64_t edge = part->starts[place]; edge < part->starts[place + 1]; ++edge) {
    const int64_t other = all[part->neighbours[edge]];
    if ((word == kNotReached) != (other == kNotReached))
      fail("of neighbours %lld and %lld one is not reached", (long long)vertex,
           (long long)part->neighbours[edge]);
    if (word != kNotReached && level_in(other) > level_in(word) + 1)
      fail("levels of neighbours %lld and %lld are %lld and %lld", (long long)vertex,
           (long long)part->neighbours[edge], (long long)level_in(word),
           (long long)level_in(other));
  }
}

/* Without MPI. */
static void check_levels(const Part* whole, const int64_t* all, int64_t root) {
  const size_t bytes = (size_t)whole->count * sizeof(int64_t);
  int64_t *const levels = memory_of(bytes), *const queue = memory_of(bytes);
  int64_t read = 0, written = 0;
  for (int64_t i = 0; i < whole->count; ++i) levels[i] = -1;
  levels[root] = 0;
  queue[written++] = root;
  while (read < written) {
    const int64_t vertex = queue[read++];
    for (int64_t edge = whole->starts[vertex]; edge < whole->starts[vertex + 1]; ++edge) {
      const int64_t to = whole->neighbours[edge];
      if (levels[to] >= 0) continue;
      levels[to] = levels[vertex] + 1;
      queue[written++] = to;
    }
  }
  for (int64_t i = 0; i < whole->count; ++i) {
    const int64_t found = all[i] == kNotReached ? -1 : level_in(all[i]);
    if (found != levels[i])
      fail("vertex %lld is of level %lld, and the search alone says %lld", (long long)i,
           (long long)found, (long long)levels[i]);
  }
  free(levels);
  free(queue);
}

int64_t check_tree(const Search* search, int64_t root, const Part* whole) {
  const Part* const part = &search->part;
  int64_t* const all = gather_words(search);
  int64_t ends = 0;
  for (int64_t place = 0; place < part->count; ++place) {
    check_neighbours(search, all, place);
    if (all[part->first + place] == kNotReached) continue;
    check_parent(search, all, root, place);
    ends += part->starts[place + 1] - part->starts[place];
  }
  if (all[root] != root) fail("the root is not reached");
  if (whole != NULL) check_levels(whole, all, root);
  free(all);
  MPI_Allreduce(MPI_IN_PLACE, &ends, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return ends / 2;
}
