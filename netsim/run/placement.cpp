#include "netsim/run/placement.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace photon::netsim {
namespace {

using Nodes = std::vector<std::uint32_t>;

bool read_node(std::string_view text, std::uint32_t& node) {
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), node);
  return error == std::errc{} && rest == text.data() + text.size();
}

// Up to one node more than `most`, so that a range cannot fill the memory; nothing if it is no
// list.
std::optional<Nodes> nodes_of(std::string_view list, std::size_t most) {
  Nodes nodes;
  while (true) {
    const std::size_t end = list.find(',');
    const std::string_view part = list.substr(0, end);
    const std::size_t line = part.find('-');
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    if (!read_node(part.substr(0, line), first)) return {};
    if (!read_node(line == std::string_view::npos ? part : part.substr(line + 1), last)) return {};
    if (last < first) return {};
    for (std::uint64_t node = first; node <= last && nodes.size() <= most; ++node) {
      nodes.push_back(static_cast<std::uint32_t>(node));
    }
    if (end == std::string_view::npos) return nodes;
    list.remove_prefix(end + 1);
  }
}

Error bad(std::string_view list, const std::string& allowed) {
  constexpr std::size_t kShown = 60;  // a list may be long
  std::string shown(list.substr(0, kShown));
  if (list.size() > kShown) shown += "...";
  return {"run.placement = " + shown + ": allowed " + allowed};
}

}  // namespace

Placement::Placement(std::uint32_t slots, const std::vector<std::uint32_t>& nodes)
    : slots_(slots), places_(0) {
  std::vector<std::uint32_t> used;  // slots of each node
  for (const std::uint32_t node : nodes) {
    if (node >= used.size()) used.resize(std::size_t{node} + 1);
    place_of_.push_back(std::uint64_t{node} * slots + used[node]++);
  }
  places_ = used.size() * slots;
  rank_at_.resize(places_, kNoRank);
  for (std::uint32_t rank = 0; rank < nodes.size(); ++rank) rank_at_[place_of_[rank]] = rank;
}

Result<Placement> make_placement(std::string_view list, std::uint32_t ranks, const Space& space) {
  if (list.empty()) return Placement(space.slots, ranks);
  const auto nodes = nodes_of(list, ranks);
  if (!nodes) return bad(list, "are nodes as 0,4,8-11");
  if (nodes->size() != ranks) {
    return bad(list, "is a node for each of the " + std::to_string(ranks) + " ranks, and it has " +
                         (nodes->size() > ranks ? "more" : std::to_string(nodes->size())));
  }
  std::vector<std::uint32_t> used(space.hosts);
  for (const std::uint32_t node : *nodes) {
    if (node >= space.hosts) {
      return bad(list, "are nodes up to " + std::to_string(space.hosts - 1) + ", and it has " +
                           std::to_string(node));
    }
    if (used[node]++ == space.slots) {
      return bad(list, "are run.ranks_per_node = " + std::to_string(space.slots) +
                           " ranks on a node, and node " + std::to_string(node) + " has more");
    }
  }
  return Placement(space.slots, *nodes);
}

}  // namespace photon::netsim
