// Tori and the single router. Host = router x hosts + i; ports +,- per dimension, hosts last.
// Dimension order, the shorter way, ties +. The VC changes at coordinate 0 of a ring, so that no
// ring of channels closes on one VC (docs/netsim-router.md).
#pragma once

#include <vector>

#include "netsim/net/topology.hpp"

namespace photon::netsim {

class SingleRouter final : public Topology {
 public:
  explicit SingleRouter(std::uint32_t hosts) : hosts_(hosts) {}
  Wiring wire() const override;
  Hop route(const Here&, Packet& packet) const override { return {packet.destination, 0}; }
  std::uint32_t vcs() const override { return 1; }
  bool is_ordered() const override { return true; }
  std::string link_class(std::uint32_t, std::uint32_t) const override { return {}; }

 private:
  std::uint32_t hosts_;
};

class Torus final : public Topology {
 public:
  Torus(std::vector<std::uint32_t> sizes, std::uint32_t hosts);
  Wiring wire() const override;
  Hop route(const Here& here, Packet& packet) const override;
  std::uint32_t vcs() const override { return 2; }
  bool is_ordered() const override { return true; }
  std::string link_class(std::uint32_t router, std::uint32_t port) const override;

 private:
  std::uint32_t dimensions() const { return static_cast<std::uint32_t>(sizes_.size()); }

  std::vector<std::uint32_t> sizes_;
  std::uint32_t hosts_;
  std::uint32_t routers_ = 1;
};

}  // namespace photon::netsim
