// A broadcast of n blocks in n - 1 + log n rounds: every member sends and receives in each.
#include "schedule/circulant.hpp"

#include "schedule/pieces.hpp"
#include "schedule/ways.hpp"

namespace photon::schedule {

Circulant::Circulant(std::uint32_t size) noexcept : rounds_(ceil_log2(size)), skips_{} {
  skips_[rounds_] = size;
  for (std::uint32_t i = rounds_; i > 0; --i) skips_[i - 1] = skips_[i] - skips_[i] / 2;
}

// The smallest distance on the greedy way from place 0: the round in which a block of its own, the
// first that this place has, comes. Of place 0: rounds().
std::uint32_t Circulant::first_block(std::uint32_t place) const noexcept {
  std::int64_t reached = 0;
  for (std::uint32_t i = rounds_; i > 0; --i) {
    if (reached + skips_[i - 1] == place) return i - 1;
    if (reached + skips_[i - 1] < place) reached += skips_[i - 1];
  }
  return rounds_;
}

// Blocks are found by a walk over the places in front of the one that receives, nearest first, by
// the distances that no found block has used: those left are a list in falling order.
struct Circulant::Search {
  Search(const Circulant& its_graph, std::uint32_t place) noexcept
      : graph(its_graph),
        target(graph.skips_[graph.rounds_] + place),
        last(2 * graph.skips_[graph.rounds_]) {
    const auto count = static_cast<int>(graph.rounds_);
    for (int i = 0; i <= count; ++i) {
      next[static_cast<std::size_t>(i)] = i - 1;
      previous[static_cast<std::size_t>(i)] = i + 1;
    }
    next[static_cast<std::size_t>(count) + 1] = count;
  }

  void unlink(int distance) noexcept {
    const auto at = static_cast<std::size_t>(distance);
    next[static_cast<std::size_t>(previous[at])] = next[at];
    if (next[at] >= 0) previous[static_cast<std::size_t>(next[at])] = previous[at];
  }
  int longest() const noexcept { return next[graph.rounds_ + 1]; }

  // Goes on from a place that has been reached, with distances from `distance` downwards.
  void walk(std::int64_t reached, int distance) noexcept {
    for (; distance >= 0; distance = next[static_cast<std::size_t>(distance)]) {
      if (found == graph.rounds_) return;
      const std::int64_t there = reached + graph.skips_[static_cast<std::size_t>(distance)];
      if (there > target - graph.skips_[found] || there >= last) continue;
      if (there <= target - graph.skips_[found + 1]) {
        walk(there, distance);
        if (found == graph.rounds_) return;
      }
      if (reached > target - graph.skips_[found + 1]) return;
      last = there;
      blocks[found++] = distance;
      unlink(distance);
    }
  }

  const Circulant& graph;
  std::int64_t target;
  std::int64_t last;  // the place whose block was found last
  std::uint32_t found = 0;
  std::array<int, kMostRounds + 2> next{};
  std::array<int, kMostRounds + 2> previous{};
  std::array<int, kMostRounds + 1> blocks{};
};

std::int64_t Circulant::received(std::uint32_t place, std::uint32_t round) const noexcept {
  const std::uint32_t own = first_block(place);
  Search search(*this, place);
  search.unlink(static_cast<int>(own));
  search.walk(0, search.longest());
  const int block = search.blocks[round];
  return block == static_cast<int>(rounds_) ? own : block - static_cast<std::int64_t>(rounds_);
}

namespace {

struct BcastCirculant {
  // The segment that a place receives in a phase; less than 0: none.
  static std::int64_t segment(const Call& call, const Circulant& graph, std::uint32_t place,
                              std::uint64_t index) noexcept {
    const std::uint64_t round = index + skipped(call, graph);
    const auto in_turn = static_cast<std::uint32_t>(round % graph.rounds());
    const auto turns = static_cast<std::int64_t>(round - in_turn);
    const auto last = static_cast<std::int64_t>(segments_of(call)) - 1;
    const std::int64_t block =
        graph.received(place, in_turn) + turns - static_cast<std::int64_t>(skipped(call, graph));
    return std::min(block, last);
  }
  // Rounds of the first turn that are left out, so that the last turn is whole.
  static std::uint64_t skipped(const Call& call, const Circulant& graph) noexcept {
    const std::uint64_t rounds = graph.rounds();
    return (rounds - (segments_of(call) - 1) % rounds) % rounds;
  }

  static bool knows(const Call&) noexcept { return true; }
  static std::uint64_t phases(const Call& call) noexcept {
    return segments_of(call) - 1 + ceil_log2(call.size);
  }
  static void at(const Call& call, std::uint64_t index, Phase& phase) noexcept {
    const Circulant graph(call.size);
    const auto round = static_cast<std::uint32_t>((index + skipped(call, graph)) % graph.rounds());
    const auto tag = static_cast<std::uint32_t>(index);
    const std::uint32_t to = after(call, graph.distance(round));
    const std::uint32_t from = before(call, graph.distance(round));
    if (to != call.root) {
      const std::int64_t sent = segment(call, graph, before(call, call.root, to), index);
      if (sent >= 0)
        phase.add(send_to(to, tag, segment_at(call, Space::out, static_cast<std::uint64_t>(sent))));
    }
    if (call.rank == call.root) return;
    const std::int64_t got = segment(call, graph, before(call, call.root), index);
    if (got >= 0)
      phase.add(
          receive_from(from, tag, segment_at(call, Space::out, static_cast<std::uint64_t>(got))));
  }
  static std::uint64_t temp(const Call&) noexcept { return 0; }
};

}  // namespace

constexpr Way kBcastCirculant = way_of<BcastCirculant>();

}  // namespace photon::schedule
