// Breadth-first search over a Kronecker graph, with an active message for each edge:
//   photonrun -n 4 bfs [--scale 16] [--edges 16] [--roots 4] [--at-once]
// Every rank draws its share of the edges; vertices are owned cyclically. The trees are checked as
// Graph500 checks them. --at-once: messages do not wait for others to go with, for comparison.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <exception>
#include <stdexcept>

#include "search.hpp"

namespace bfs {
namespace {

struct Options {
  unsigned scale = 16;
  std::uint64_t edges_each = 16;
  std::uint64_t roots = 4;
  bool is_at_once = false;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The next vertex that has neighbours, the same at all ranks.
Vertex next_root(Job& job, const Graph& graph, const Kronecker& kronecker, std::uint64_t& number) {
  for (std::uint64_t tries = 0; tries < kronecker.vertices_count(); ++tries) {
    const Vertex vertex = kronecker.any_vertex(number++);
    const photon::Rank owner = job.owner(vertex);
    const std::uint64_t degree =
        owner == job.rank() ? graph.neighbours(job.place(vertex)).size() : 0;
    if (job.agree(degree, owner) != 0) return vertex;
  }
  throw std::runtime_error("no vertex with a neighbour was found");
}

bool run(Job& job, const Options& options) {
  const bool speaks = job.rank() == 0;
  const Kronecker kronecker(options.scale, options.edges_each);
  auto start = std::chrono::steady_clock::now();
  const Graph graph(job, kronecker);
  const double built_s = seconds_since(start);
  if (speaks)
    std::printf("bfs: %u ranks, %llu vertices, %llu edges, distributed in %.3f s\n", job.size(),
                static_cast<unsigned long long>(kronecker.vertices_count()),
                static_cast<unsigned long long>(kronecker.edges_count()), built_s);
  Search search(job, graph);
  std::uint64_t number = 0;
  std::uint64_t faults = 0;
  for (std::uint64_t tree = 0; tree < options.roots; ++tree) {
    const Vertex root = next_root(job, graph, kronecker, number);
    start = std::chrono::steady_clock::now();
    const std::uint64_t levels = search.run(root);
    const double searched_s = seconds_since(start);
    const std::uint64_t edges = search.edges_reached();
    faults += search.faults(root);
    const std::uint64_t reached = search.take_reached();
    if (speaks)
      std::printf("bfs: from %u: %llu vertices in %llu levels, %llu edges, %.2f million a second\n",
                  root, static_cast<unsigned long long>(reached),
                  static_cast<unsigned long long>(levels), static_cast<unsigned long long>(edges),
                  static_cast<double>(edges) / searched_s / 1e6);
  }
  if (speaks)
    std::printf("bfs: %llu trees, %s\n", static_cast<unsigned long long>(options.roots),
                faults == 0 ? "right" : "WRONG");
  job.barrier();  // all have begun what the others have
  return faults == 0;
}

}  // namespace
}  // namespace bfs

int main(int argc, char** argv) {
  bfs::Options options;
  CLI::App app{"Breadth-first search by active messages; run under photonrun."};
  app.add_option("--scale", options.scale, "2 to this power are the vertices")
      ->check(CLI::Range(1, 31));
  app.add_option("--edges", options.edges_each, "Edges for each vertex")
      ->check(CLI::Range(1, 1024));
  app.add_option("--roots", options.roots, "So many searches");
  app.add_flag("--at-once", options.is_at_once, "Messages wait for no others to go with");
  CLI11_PARSE(app, argc, argv);
  try {
    bfs::Job job(!options.is_at_once);
    return bfs::run(job, options) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bfs: %s\n", error.what());
    return 1;
  }
}
