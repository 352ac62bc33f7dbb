// Edges of a Kronecker graph as Graph500 has them: 2^scale vertices, each edge drawn by itself from
// its number, so that any rank can make any edge and the graph is the same on any number of ranks.
// Source: Leskovec, Chakrabarti, Kleinberg, Faloutsos and Ghahramani, "Kronecker graphs", 2010; the
// probabilities are those of graph500.org.
// Owner: none (pure functions).
#pragma once

#include <cstdint>

namespace bfs {

using Vertex = std::uint32_t;

struct Edge {
  Vertex from;
  Vertex to;
};

// The next number of a sequence that begins anywhere (splitmix64).
inline std::uint64_t draw(std::uint64_t& state) noexcept {
  state += 0x9e3779b97f4a7c15U;
  std::uint64_t mixed = state;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9U;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebU;
  return mixed ^ mixed >> 31;
}

class Kronecker {
 public:
  // `scale`: 1 to 31. `edges_each`: edges for each vertex.
  Kronecker(unsigned scale, std::uint64_t edges_each) noexcept
      : scale_(scale), edges_count_(edges_each << scale) {}

  std::uint64_t vertices_count() const noexcept { return std::uint64_t{1} << scale_; }
  std::uint64_t edges_count() const noexcept { return edges_count_; }

  Edge edge(std::uint64_t number) const noexcept {
    std::uint64_t state = number;
    state = draw(state);
    Edge edge{0, 0};
    for (unsigned bit = 0; bit < scale_; ++bit) {
      const auto percent = static_cast<unsigned>(draw(state) % 100);
      // Of a quarter of the matrix: 57 both low, 19 and 19 one of them, 5 both high.
      const bool is_from_high = percent >= 76;
      const bool is_to_high = percent >= 95 || (percent >= 57 && percent < 76);
      edge.from = edge.from << 1 | Vertex{is_from_high};
      edge.to = edge.to << 1 | Vertex{is_to_high};
    }
    return {scrambled(edge.from), scrambled(edge.to)};
  }

  // A vertex, drawn from a number.
  Vertex any_vertex(std::uint64_t number) const noexcept {
    std::uint64_t state = ~number;
    return static_cast<Vertex>(draw(state) & (vertices_count() - 1));
  }

 private:
  // Low numbers have most of the edges: another one for each vertex, so that owners share them.
  // Every step can be undone within so many bits.
  Vertex scrambled(Vertex vertex) const noexcept {
    const auto mask = static_cast<Vertex>(vertices_count() - 1);
    const unsigned half = (scale_ + 1) / 2;
    for (int round = 0; round < 3; ++round) {
      vertex = (vertex * 0x9e3779b1U + 0x7f4a7c15U) & mask;
      vertex ^= vertex >> half;
    }
    return vertex;
  }

  unsigned scale_;
  std::uint64_t edges_count_;
};

}  // namespace bfs
