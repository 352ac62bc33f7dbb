#include "netsim/net/fat_tree.hpp"

namespace photon::netsim {

FatTree::FatTree(const std::vector<FatTreeLevel>& levels, bool is_adaptive)
    : is_adaptive_(is_adaptive) {
  for (const FatTreeLevel& level : levels) hosts_ *= level.down;
  std::uint32_t below = 1;
  std::uint32_t routers_a_group = 1;
  std::uint32_t router = 0;
  for (const FatTreeLevel& level : levels) {
    const std::uint32_t groups = hosts_ / (below * level.down);
    levels_.push_back({level.down, level.up, groups, routers_a_group, below, router});
    router += groups * routers_a_group;
    below *= level.down;
    routers_a_group *= level.up;
  }
}

Wiring FatTree::wire() const {
  Wiring wiring;
  for (const Level& level : levels_) {
    for (std::uint32_t i = 0; i < level.groups * level.routers_a_group; ++i) {
      wiring.add_router(level.down + level.up);
    }
  }
  for (std::uint32_t host = 0; host < hosts_; ++host) {
    const std::uint32_t leaf = host / levels_[0].down;
    wiring.attach(host, wiring.port_base[leaf] + host % levels_[0].down);
  }
  for (std::size_t l = 0; l + 1 < levels_.size(); ++l) {
    const Level& level = levels_[l];
    const Level& above = levels_[l + 1];
    for (std::uint32_t router = 0; router < level.groups * level.routers_a_group; ++router) {
      const std::uint32_t group = router / level.routers_a_group;
      const std::uint32_t i = router % level.routers_a_group;
      for (std::uint32_t c = 0; c < level.up; ++c) {
        const std::uint32_t parent = above.first_router +
                                     group / above.down * above.routers_a_group +
                                     c * level.routers_a_group + i;
        wiring.connect(wiring.port_base[level.first_router + router] + level.down + c,
                       wiring.port_base[parent] + group % above.down);
      }
    }
  }
  return wiring;
}

const FatTree::Level& FatTree::level_of(std::uint32_t router) const {
  std::size_t l = 0;
  while (l + 1 < levels_.size() && router >= levels_[l + 1].first_router) ++l;
  return levels_[l];
}

// Numbered by the level at their lower end; the leaves are level 0.
std::string FatTree::link_class(std::uint32_t router, std::uint32_t port) const {
  const Level& level = level_of(router);
  const auto number = static_cast<std::uint32_t>(&level - levels_.data());
  if (port >= level.down) return "up_" + std::to_string(number);
  return "down_" + std::to_string(number == 0 ? 0 : number - 1);
}

Hop FatTree::route(const Here& here, Packet& packet) const {
  const Level& level = level_of(here.router);
  const std::uint32_t group = (here.router - level.first_router) / level.routers_a_group;
  const std::uint32_t branch = packet.destination / level.hosts_below_port;
  if (branch / level.down == group) return {branch % level.down, 0};
  const std::uint32_t usual = level.down + branch % level.up;
  if (!is_adaptive_) return {usual, 0};
  return up_port(here, level, usual);
}

// The usual port while half of its output room is free, else the one with most room.
Hop FatTree::up_port(const Here& here, const Level& level, std::uint32_t usual) const {
  std::uint32_t shortest = here.queues.length(usual, 0);
  if (2 * (here.queues.room() - shortest) >= here.queues.room()) return {usual, 0};
  std::uint32_t best = usual;
  for (std::uint32_t port = level.down; port < level.down + level.up; ++port) {
    const std::uint32_t length = here.queues.length(port, 0);
    if (length < shortest) {
      shortest = length;
      best = port;
    }
  }
  return {best, 0};
}

}  // namespace photon::netsim
