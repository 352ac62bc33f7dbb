#include "ways.h"

#include "am.h"

typedef struct Pair {
  int64_t place, word;
} Pair;

/* Of one peer. No level has more edges than `most`, and as many come from there as go there. */
typedef struct List {
  int count, most;
  int* places;  /* of vertices, in the peer's window; of runs of them if it is compact */
  int* lengths; /* of runs */
  int runs;     /* 0: it is not compact */
  int64_t* words;
  Pair *sent, *received;
} List;

typedef struct Lists {
  List* of;       /* each rank */
  int* listed;    /* of each vertex: where it stands in its owner's list, or anything */
  int64_t* dense; /* the words of a peer, while its list is made compact */
  MPI_Op least;   /* of the program */
  MPI_Request* requests;
  MPI_Status* statuses;
} Lists;

static void least_of(void* in, void* inout, int* count, MPI_Datatype* type) {
  const int64_t* const from = in;
  int64_t* const to = inout;
  (void)type;
  for (int i = 0; i < *count; ++i)
    if (from[i] < to[i]) to[i] = from[i];
}

static void count_edges(const Search* search, List* lists) {
  const Part* const part = &search->part;
  for (int64_t edge = 0; edge < part->starts[part->count]; ++edge)
    ++lists[owner_of(search, part->neighbours[edge])].most;
}

void open_lists(Search* search) {
  const size_t ranks = (size_t)search->ranks;
  Lists* const lists = search->lists = memory_of(sizeof *lists);
  lists->of = memory_of(ranks * sizeof *lists->of);
  memset(lists->of, 0, ranks * sizeof *lists->of);
  count_edges(search, lists->of);
  for (int peer = 0; peer < search->ranks; ++peer) {
    List* const list = &lists->of[peer];
    const size_t most = peer == search->rank ? 0 : (size_t)list->most;
    list->places = memory_of(most * sizeof *list->places);
    list->lengths = memory_of(most * sizeof *list->lengths);
    list->words = memory_of(most * sizeof *list->words);
    list->sent = memory_of(most * sizeof *list->sent);
    list->received = memory_of(most * sizeof *list->received);
  }
  const size_t vertices = ranks * (size_t)search->block;
  lists->listed = memory_of(vertices * sizeof *lists->listed);
  memset(lists->listed, 0, vertices * sizeof *lists->listed);
  lists->dense = memory_of((size_t)search->block * sizeof *lists->dense);
  for (int64_t i = 0; i < search->block; ++i) lists->dense[i] = kNotReached;
  lists->requests = memory_of(2 * ranks * sizeof(MPI_Request));
  lists->statuses = memory_of(ranks * sizeof(MPI_Status));
  lists->least = user_op(least_of, search->window);
}

void close_lists(Search* search) {
  Lists* const lists = search->lists;
  for (int peer = 0; peer < search->ranks; ++peer) {
    free(lists->of[peer].places);
    free(lists->of[peer].lengths);
    free(lists->of[peer].words);
    free(lists->of[peer].sent);
    free(lists->of[peer].received);
  }
  free_op(&lists->least);
  free(lists->requests);
  free(lists->statuses);
  free(lists->listed);
  free(lists->dense);
  free(lists->of);
  free(lists);
}

static void empty(Lists* lists, int ranks) {
  for (int peer = 0; peer < ranks; ++peer) lists->of[peer].count = lists->of[peer].runs = 0;
}

static void gather(Search* search, const Outer* edge) {
  List* const list = &search->lists->of[edge->owner];
  list->places[list->count] = (int)edge->to;
  list->words[list->count++] = edge->word;
}

/* Nothing need be forgotten between levels: what `listed` says is looked up in the list. */
static void gather_once(Search* search, const Outer* edge) {
  List* const list = &search->lists->of[edge->owner];
  int* const listed = &search->lists->listed[edge->owner * search->block + edge->to];
  if (*listed < list->count && list->places[*listed] == edge->to) {
    if (edge->word < list->words[*listed]) list->words[*listed] = edge->word;
    return;
  }
  *listed = list->count;
  gather(search, edge);
}

static void gather_pair(Search* search, const Outer* edge) {
  List* const list = &search->lists->of[edge->owner];
  list->sent[list->count++] = (Pair){edge->to, edge->word};
}

static void accumulate_lists(Search* search, MPI_Op op) {
  for (int step = 1; step < search->ranks; ++step) {
    const int peer = (search->rank + step) % search->ranks;
    const List* const list = &search->lists->of[peer];
    MPI_Datatype places;
    if (list->count == 0) continue;
    if (list->runs == 0)
      MPI_Type_create_indexed_block(list->count, 1, list->places, MPI_INT64_T, &places);
    else
      MPI_Type_indexed(list->runs, list->lengths, list->places, MPI_INT64_T, &places);
    MPI_Type_commit(&places);
    MPI_Accumulate(list->words, list->count, MPI_INT64_T, peer, 0, 1, places, op, search->window);
    MPI_Type_free(&places);
    ++search->accumulates;
  }
}

/* Where it has more edges than a part of the peer's vertices; `dense` is as it was afterwards. */
static void make_compact(const Search* search, List* list) {
  enum { kSparse = 4 };
  int64_t* const dense = search->lists->dense;
  if (list->count < search->block / kSparse) return;
  for (int i = 0; i < list->count; ++i)
    if (list->words[i] < dense[list->places[i]]) dense[list->places[i]] = list->words[i];
  list->count = 0;
  for (int place = 0, behind = -1; place < search->block; ++place) {
    if (dense[place] == kNotReached) continue;
    list->words[list->count++] = dense[place];
    dense[place] = kNotReached;
    if (place != behind) {
      list->lengths[list->runs] = 0;
      list->places[list->runs++] = place;
    }
    ++list->lengths[list->runs - 1];
    behind = place + 1;
  }
}

static void exchange_by_types(Search* search, int64_t level) {
  empty(search->lists, search->ranks);
  MPI_Win_fence(MPI_MODE_NOPRECEDE, search->window);
  walk_level(search, level, gather_once);
  accumulate_lists(search, MPI_MIN);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, search->window);
}

static void exchange_by_messages(Search* search, int64_t level) {
  empty(search->lists, search->ranks);
  MPI_Win_fence(MPI_MODE_NOPRECEDE, search->window);
  walk_level(search, level, gather);
  for (int peer = 0; peer < search->ranks; ++peer) make_compact(search, &search->lists->of[peer]);
  accumulate_lists(search, search->lists->least);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, search->window);
}

static void take_pairs(Search* search, const Pair* pairs, int count) {
  for (int i = 0; i < count; ++i)
    if (pairs[i].word < search->found[pairs[i].place])
      search->found[pairs[i].place] = pairs[i].word;
}

static void exchange_by_pairs(Search* search, int64_t level) {
  Lists* const lists = search->lists;
  const int peers = search->ranks - 1;
  empty(lists, search->ranks);
  walk_level(search, level, gather_pair);
  for (int step = 1; step <= peers; ++step) {
    const int peer = (search->rank + step) % search->ranks;
    const List* const list = &lists->of[peer];
    MPI_Irecv(list->received, 2 * list->most, MPI_INT64_T, peer, 0, MPI_COMM_WORLD,
              &lists->requests[step - 1]);
    MPI_Isend(list->sent, 2 * list->count, MPI_INT64_T, peer, 0, MPI_COMM_WORLD,
              &lists->requests[peers + step - 1]);
  }
  for (int done = 0; done < peers; ++done) {
    MPI_Status status;
    int which = 0, numbers = 0;
    MPI_Waitany(peers, lists->requests, &which, &status);
    MPI_Get_count(&status, MPI_INT64_T, &numbers);
    take_pairs(search, lists->of[status.MPI_SOURCE].received, numbers / 2);
  }
  MPI_Waitall(peers, lists->requests + peers, lists->statuses);
}

const Way kDerivedTypes = {"ddt", exchange_by_types};
const Way kActiveMessages = {"am", exchange_by_messages};
const Way kTwoSided = {"two-sided", exchange_by_pairs};
