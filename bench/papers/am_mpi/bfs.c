/* Breadth-first search of a Kronecker graph in four ways (section V-F, figure 9).
 *
 *   bfs [--scale N] [--roots N] [--limit-s N]
 *
 * Ways (ways.h) take turns at each root, and every tree is checked. Rank 0 prints one line of JSON:
 * for each way the microseconds of its best root (panel "us", a point over the scale) and the
 * traversed edges a second (panel "teps").
 */
#include "am.h"
#include "bfs/roots.h"
#include "ways.h"

typedef struct Options {
  int scale, limit_s;
  long roots;
} Options;

static const char* read_options(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; i += 2) {
    const char* const value = argv[i + 1]; /* NULL behind the last one */
    if (strcmp(argv[i], "--scale") == 0)
      options->scale = (int)number_of(value, 2, kMostScale);
    else if (strcmp(argv[i], "--roots") == 0)
      options->roots = number_of(value, 1, kMostRoots);
    else if (strcmp(argv[i], "--limit-s") == 0)
      options->limit_s = (int)number_of(value, 1, 3600);
    else
      return "there is no such option";
    if (options->scale < 0) return "--scale wants 2 to 22";
    if (options->roots < 0) return "--roots wants 1 to 1000";
    if (options->limit_s < 0) return "--limit-s wants 1 to 3600";
  }
  return NULL;
}

int main(int argc, char** argv) {
  const Way* const ways[] = {&kAccumulates, &kDerivedTypes, &kTwoSided,
                             MPIX_Op_register != NULL ? &kActiveMessages : NULL, NULL};
  Options options = {.scale = 10, .roots = 16, .limit_s = 3};
  Search search = {0};
  WayFound found[kMostWays];
  int said = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &search.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &search.ranks);
  const char* const mistake = read_options(argc, argv, &options);
  if (mistake != NULL) fail("bfs: %s", mistake);
  if (search.ranks > 1 << options.scale) fail("bfs: more ranks than vertices");
  search.scale = options.scale;
  open_search(&search, 1);
  open_lists(&search);
  const Roots roots = {ways, 1, options.roots, options.limit_s};
  const double before_ns = ping_ns();
  measure_roots(&search, &roots, found);
  const double after_ns = ping_ns();
  if (search.rank == 0) {
    begin_points();
    for (int i = 0; ways[i] != NULL; ++i) {
      say_point(&said, (Point){"us", ways[i]->name, options.scale, found[i].best_us});
      say_point(&said, (Point){"teps", ways[i]->name, options.scale, found[i].best_teps});
    }
    end_points(before_ns, after_ns);
  }
  close_lists(&search);
  close_search(&search);
  return MPI_Finalize();
}
