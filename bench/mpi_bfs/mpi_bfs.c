/* Breadth-first search of a Kronecker graph by one-sided MPI.
 *
 *   mpi_bfs [--scale N] [--roots N] [--seed N] [--memory allocate|create] [--limit-s N] [--tiny]
 *
 * Roots are chosen at random among vertices that have an edge; after --limit-s no further one is
 * begun. The tree of each is checked (check.c), up to scale 12 against a search without MPI, too.
 * Rank 0 prints one line of JSON: the best root's microseconds and traversed edges per second (each
 * edge that the search went over counts once), how many accumulates that were, and the median.
 */
#include "search.h"

typedef struct Options {
  int scale, memory, limit_s;
  long roots, seed;
} Options;

enum { kMostSerialScale = 12, kMostRoots = 1000 };
static const char* const kMemories[] = {"allocate", "create", NULL};

static const char* read_options(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; ++i) {
    const char* const name = argv[i];
    if (strcmp(name, "--tiny") == 0) {
      options->roots = 1;
      options->scale = 8;
      continue;
    }
    const char* const value = argv[++i]; /* NULL behind the last one */
    if (strcmp(name, "--scale") == 0)
      options->scale = (int)number_of(value, 1, kMostScale);
    else if (strcmp(name, "--roots") == 0)
      options->roots = number_of(value, 1, kMostRoots);
    else if (strcmp(name, "--seed") == 0)
      options->seed = number_of(value, 0, 1000000000);
    else if (strcmp(name, "--memory") == 0)
      options->memory = place_in(kMemories, value);
    else if (strcmp(name, "--limit-s") == 0)
      options->limit_s = (int)number_of(value, 1, 3600);
    else
      return "there is no such option";
    if (options->scale < 0) return "--scale wants 1 to 22";
    if (options->roots < 0) return "--roots wants 1 to 1000";
    if (options->seed < 0) return "--seed wants 0 to 1000000000";
    if (options->memory < 0) return "--memory wants allocate or create";
    if (options->limit_s < 0) return "--limit-s wants 1 to 3600";
  }
  return NULL;
}

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
static int goes_on(uint64_t begun_ns, const Options* options) {
  int yes = ns_between(begun_ns, now_ns()) < 1e9 * options->limit_s;
  MPI_Bcast(&yes, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return yes;
}

static void check_edges(const Search* search) {
  int64_t edges = search->part.starts[search->part.count];
  MPI_Allreduce(MPI_IN_PLACE, &edges, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  if (edges == 0) fail("no two vertices have an edge; take another seed or scale");
}

static void measure(Search* search, const Options* options) {
  const uint64_t begun_ns = now_ns(), seed = (uint64_t)options->seed;
  const int has_whole = search->rank == 0 && search->scale <= kMostSerialScale;
  Part whole = {0, 0, NULL, NULL};
  if (has_whole) whole = make_part(search->scale, seed, 0, search->vertices);
  double all_us[kMostRoots], best_us = 0, best_teps = 0;
  int64_t accumulates = 0;
  uint64_t tried = 0;
  size_t count = 0;
  const double before_ns = ping_ns();
  check_edges(search);
  do {
    const int64_t root = next_root(search, seed, &tried);
    const double us = search_from(search, root) * 1e6;
    const int64_t edges = check_tree(search, root, has_whole ? &whole : NULL);
    MPI_Allreduce(&search->accumulates, &accumulates, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if ((double)edges / us * 1e6 > best_teps) {
      best_us = us;
      best_teps = (double)edges / us * 1e6;
    }
    all_us[count++] = us;
  } while ((long)count < options->roots && goes_on(begun_ns, options));
  const double after_ns = ping_ns();
  if (has_whole) release_part(&whole);
  if (search->rank != 0) return;
  printf("{\"scale\": %d, \"ranks\": %d, \"memory\": \"%s\", \"us\": %.1f, \"teps\": %.0f, ",
         search->scale, search->ranks, kMemories[options->memory], best_us, best_teps);
  printf("\"median_us\": %.1f, \"roots\": %zu, \"accumulates\": %lld, \"ping_ns\": [%.1f, %.1f]}\n",
         median_of(all_us, count), count, (long long)accumulates, before_ns, after_ns);
}

int main(int argc, char** argv) {
  Options options = {.scale = 10, .roots = 16, .seed = 1, .limit_s = 10};
  Search search = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &search.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &search.ranks);
  const char* mistake = read_options(argc, argv, &options);
  if (mistake == NULL && search.ranks > (1 << options.scale)) mistake = "more ranks than vertices";
  if (mistake != NULL) {
    if (search.rank == 0) fprintf(stderr, "mpi_bfs: %s\n", mistake);
    MPI_Finalize();
    return 2;
  }
  search.scale = options.scale;
  search.is_created = options.memory == 1;
  open_search(&search, (uint64_t)options.seed);
  measure(&search, &options);
  close_search(&search);
  return MPI_Finalize();
}
