/* Breadth-first search of a Kronecker graph by one-sided MPI.
 *
 *   mpi_bfs [--scale N] [--roots N] [--seed N] [--memory allocate|create] [--limit-s N] [--tiny]
 *
 * Roots are chosen at random among vertices that have an edge; after --limit-s no further one is
 * begun. The tree of each is checked (check.c), up to scale 12 against a search without MPI, too.
 * Rank 0 prints one line of JSON: the best root's microseconds and traversed edges per second (each
 * edge that the search went over counts once), how many accumulates that were, and the median.
 */
#include "bfs/roots.h"

typedef struct Options {
  int scale, memory, limit_s;
  long roots, seed;
} Options;

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

static void measure(Search* search, const Options* options) {
  const Way* const ways[] = {&kAccumulates, NULL};
  const Roots roots = {ways, (uint64_t)options->seed, options->roots, options->limit_s};
  WayFound found[1];
  const double before_ns = ping_ns();
  measure_roots(search, &roots, found);
  const double after_ns = ping_ns();
  if (search->rank != 0) return;
  printf("{\"scale\": %d, \"ranks\": %d, \"memory\": \"%s\", \"us\": %.1f, \"teps\": %.0f, ",
         search->scale, search->ranks, kMemories[options->memory], found->best_us,
         found->best_teps);
  printf("\"median_us\": %.1f, \"roots\": %zu, \"accumulates\": %lld, \"ping_ns\": [%.1f, %.1f]}\n",
         found->median_us, found->roots, (long long)found->accumulates, before_ns, after_ns);
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
