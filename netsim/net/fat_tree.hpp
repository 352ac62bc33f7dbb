// Fat trees d,u:d,u:d. Host = leaf x d + i; down ports, then up. Up port c of router i of a group
// goes to router c r + i of the parent group (r routers in the group), at its down port group mod
// d.
#pragma once

#include <vector>

#include "netsim/net/topology.hpp"

namespace photon::netsim {

struct FatTreeLevel {
  std::uint32_t down = 1;
  std::uint32_t up = 0;  // none at the top
};

class FatTree final : public Topology {
 public:
  FatTree(const std::vector<FatTreeLevel>& levels, bool is_adaptive);
  Wiring wire() const override;
  Hop route(const Here& here, Packet& packet) const override;
  std::uint32_t vcs() const override { return 1; }
  bool is_ordered() const override { return !is_adaptive_; }
  std::string link_class(std::uint32_t router, std::uint32_t port) const override;

 private:
  struct Level {
    std::uint32_t down;
    std::uint32_t up;
    std::uint32_t groups;
    std::uint32_t routers_a_group;
    std::uint32_t hosts_below_port;  // below one down port
    std::uint32_t first_router;
  };
  const Level& level_of(std::uint32_t router) const;
  Hop up_port(const Here& here, const Level& level, std::uint32_t usual) const;

  std::vector<Level> levels_;
  std::uint32_t hosts_ = 1;
  bool is_adaptive_;
};

}  // namespace photon::netsim
