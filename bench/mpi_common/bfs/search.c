#include "search.h"

void open_search(Search* search, uint64_t seed) {
  search->vertices = INT64_C(1) << search->scale;
  search->block = (search->vertices + search->ranks - 1) / search->ranks;
  const int64_t begin = search->block * search->rank, left = search->vertices - begin;
  const int64_t count = left < 0 ? 0 : left < search->block ? left : search->block;
  const size_t bytes = (size_t)count * sizeof(int64_t);
  const int unit = (int)sizeof(int64_t);
  search->part = make_part(search->scale, seed, begin, count);
  search->found = memory_of(bytes);
  search->sent = memory_of(bytes);
  search->queue = memory_of(bytes);
  if (search->is_created) {
    search->words = memory_of(bytes);
    MPI_Win_create(search->words, (MPI_Aint)bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD,
                   &search->window);
  } else {
    MPI_Win_allocate((MPI_Aint)bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &search->words,
                     &search->window);
  }
}

void close_search(Search* search) {
  MPI_Win_free(&search->window);
  if (search->is_created) free(search->words);
  free(search->found);
  free(search->sent);
  free(search->queue);
  release_part(&search->part);
}

static void begin(Search* search, int64_t root) {
  search->queued = search->accumulates = 0;
  for (int64_t i = 0; i < search->part.count; ++i) search->words[i] = kNotReached;
  if (owner_of(search, root) != search->rank) return;
  const int64_t place = root - search->part.first;
  search->words[place] = root; /* its own parent, of level 0 */
  search->queue[search->queued++] = place;
}

static void accumulate_edge(Search* search, const Outer* edge) {
  MPI_Accumulate(&search->sent[edge->from], 1, MPI_INT64_T, edge->owner, (MPI_Aint)edge->to, 1,
                 MPI_INT64_T, MPI_MIN, search->window);
  ++search->accumulates;
}

static void exchange_by_accumulates(Search* search, int64_t level) {
  MPI_Win_fence(MPI_MODE_NOPRECEDE, search->window);
  walk_level(search, level, accumulate_edge);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, search->window);
}

const Way kAccumulates = {"default", exchange_by_accumulates};

/* The queue of the next level. */
static void take_level(Search* search, int64_t level) {
  search->queued = 0;
  for (int64_t i = 0; i < search->part.count; ++i) {
    if (search->found[i] < search->words[i]) search->words[i] = search->found[i];
    if (search->words[i] != kNotReached && level_in(search->words[i]) == level)
      search->queue[search->queued++] = i;
  }
}

double search_from(Search* search, const Way* way, int64_t root) {
  int64_t queued = 1;
  begin(search, root);
  MPI_Barrier(MPI_COMM_WORLD);
  const uint64_t start_ns = now_ns();
  for (int64_t level = 0; queued != 0; ++level) {
    way->exchange(search, level);
    take_level(search, level + 1);
    MPI_Allreduce(&search->queued, &queued, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  }
  double seconds = ns_between(start_ns, now_ns()) / 1e9;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}
