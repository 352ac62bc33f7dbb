/*
 * Breadth-first search of a graph by active messages:
 *
 *   mpiexec -n 4 ./mpi_bfs
 *
 * An active message is an accumulate with a function of this program (MPIX_Op_register). Each
 * vertex has a visit in the window of its owner: the level at which it was reached, and from where.
 * A level of the search gathers its edges by the owner of their ends and sends each owner one
 * accumulate. The function keeps the earliest visit, so a datatype may name a vertex once for each
 * edge to it, in any order; with MPI's own operations it must name a vertex once. The program is
 * linked with Photon (docs/mpi-windows.md); bench/papers/am_mpi measures the long form.
 */
#include <photon/photon_mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kScale = 12, kVertices = 1 << kScale, kEdges = 8 * kVertices, kNever = 1 << 30 };

typedef struct Visit { /* an MPI_2INT */
  int level, parent;
} Visit;

typedef struct Edge {
  int from, to;
} Edge;

/* Vertices are dealt out to the ranks in turn. */
typedef struct Search {
  int rank, ranks, in_block; /* vertices of a rank */
  Edge* edges;
  Visit* mine; /* the window */
  MPI_Op earliest;
  MPI_Win win;
  int used; /* of what this rank sends in a level: */
  int* places;
  Visit* visits;
} Search;

static void keep_earliest(void* in, void* inout, int* count, MPI_Datatype* type) {
  const Visit* from = in;
  Visit* to = inout;
  (void)type;
  for (int i = 0; i < *count; ++i)
    if (from[i].level < to[i].level) to[i] = from[i];
}

/* A Kronecker graph: each bit of an edge falls into a quarter of the matrix. */
static void make_edges(Edge* edges) {
  uint64_t random = 1;
  for (int i = 0; i < kEdges; ++i) {
    Edge edge = {0, 0};
    for (int bit = 0; bit < kScale; ++bit) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      const unsigned part = (unsigned)(random >> 33) % 100;
      edge.from = 2 * edge.from + (part >= 76);
      edge.to = 2 * edge.to + ((part >= 57 && part < 76) || part >= 95);
    }
    edges[2 * i] = edge;
    edges[2 * i + 1] = (Edge){edge.to, edge.from};
  }
}

/* The edges from what the level before has reached to vertices of that owner. */
static void gather(Search* search, int level, int owner) {
  for (int i = 0; i < 2 * kEdges; ++i) {
    const Edge edge = search->edges[i];
    if (edge.from % search->ranks != search->rank || edge.to % search->ranks != owner) continue;
    if (search->mine[edge.from / search->ranks].level != level - 1) continue;
    search->places[search->used] = edge.to / search->ranks;
    search->visits[search->used++] = (Visit){level, edge.from};
  }
}

static void send(const Search* search, int first, int count, int owner) {
  MPI_Datatype ends;
  if (count == 0) return;
  MPI_Type_create_indexed_block(count, 1, search->places + first, MPI_2INT, &ends);
  MPI_Type_commit(&ends);
  MPIX_Accumulate(search->visits + first, count, MPI_2INT, owner, 0, 1, ends, search->earliest,
                  search->win);
  MPI_Type_free(&ends);
}

/* Nobody looks at the window between the fences, so what is sent is gathered before. */
static void do_level(Search* search, int level) {
  int first[search->ranks + 1];
  search->used = 0;
  for (int owner = 0; owner < search->ranks; ++owner) {
    first[owner] = search->used;
    gather(search, level, owner);
  }
  first[search->ranks] = search->used;
  MPIX_Win_fence(MPI_MODE_NOPRECEDE, search->win);
  for (int owner = 0; owner < search->ranks; ++owner)
    send(search, first[owner], first[owner + 1] - first[owner], owner);
  MPIX_Win_fence(MPI_MODE_NOSUCCEED, search->win);
}

static Visit visit_in(const Search* search, const Visit* all, int vertex) {
  return all[vertex % search->ranks * search->in_block + vertex / search->ranks];
}

/* Parents are of the level before, and neighbours at most one level later. */
static int is_tree(const Search* search, const Visit* all) {
  for (int i = 0; i < 2 * kEdges; ++i) {
    const Visit from = visit_in(search, all, search->edges[i].from);
    const Visit to = visit_in(search, all, search->edges[i].to);
    if (from.level != kNever && to.level > from.level + 1) return 0;
    if (to.level == kNever || to.level == 0) continue;
    if (visit_in(search, all, to.parent).level != to.level - 1) return 0;
  }
  return 1;
}

static int count_of(const Search* search, int level) {
  int count = 0;
  for (int i = 0; i < search->in_block; ++i) count += search->mine[i].level == level;
  MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return count;
}

static void* memory_of(size_t bytes) {
  void* const memory = malloc(bytes);
  if (memory == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  return memory;
}

static void open_search(Search* search) {
  MPI_Comm_rank(MPI_COMM_WORLD, &search->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &search->ranks);
  search->in_block = (kVertices + search->ranks - 1) / search->ranks;
  search->edges = memory_of(2 * kEdges * sizeof(Edge));
  search->places = memory_of(2 * kEdges * sizeof(int));
  search->visits = memory_of(2 * kEdges * sizeof(Visit));
  make_edges(search->edges);
  MPIX_Win_allocate(search->in_block * (MPI_Aint)sizeof(Visit), sizeof(Visit), MPI_INFO_NULL,
                    MPI_COMM_WORLD, &search->mine, &search->win);
  MPIX_Op_create(keep_earliest, 1, &search->earliest);
  MPIX_Op_register(search->earliest, 0, search->win);
  for (int i = 0; i < search->in_block; ++i) search->mine[i] = (Visit){kNever, 0};
  if (search->rank == 0) search->mine[0].level = 0; /* vertex 0 is the root */
  MPI_Barrier(MPI_COMM_WORLD);
}

static void close_search(Search* search) {
  MPIX_Op_free(&search->earliest);
  MPIX_Win_free(&search->win);
  free(search->edges);
  free(search->places);
  free(search->visits);
}

int main(int argc, char** argv) {
  Search search = {0};
  int level = 0;
  int reached = 1;

  MPI_Init(&argc, &argv);
  if (MPIX_Init() != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
  open_search(&search);
  for (int count = 1; count != 0; reached += count) {
    do_level(&search, ++level);
    count = count_of(&search, level);
  }

  Visit* all = memory_of((size_t)(search.in_block * search.ranks) * sizeof(Visit));
  MPI_Allgather(search.mine, search.in_block, MPI_2INT, all, search.in_block, MPI_2INT,
                MPI_COMM_WORLD);
  const int is_right = is_tree(&search, all);
  if (search.rank == 0)
    printf("mpi_bfs: %d of %d vertices are within %d levels of the root; the tree is %s\n", reached,
           kVertices, level - 1, is_right ? "right" : "WRONG");
  free(all);
  close_search(&search);
  MPI_Finalize();
  return is_right ? 0 : 1;
}
