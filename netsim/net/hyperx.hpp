// HyperX: every router is linked to all others that differ from it in one coordinate. Ports: per
// dimension the other coordinates ascending, `width` links each; hosts last.
#pragma once

#include <vector>

#include "netsim/net/topology.hpp"

namespace photon::netsim {

struct HyperXShape {
  std::vector<std::uint32_t> sizes;
  std::uint32_t width = 1;
  std::uint32_t hosts = 1;
  bool is_adaptive = false;
};

class HyperX final : public Topology {
 public:
  explicit HyperX(HyperXShape shape);
  Wiring wire() const override;
  Hop route(const Here& here, Packet& packet) const override;
  std::uint32_t vcs() const override { return shape_.is_adaptive ? 2 : 1; }
  bool is_ordered() const override { return !shape_.is_adaptive; }
  std::string link_class(std::uint32_t router, std::uint32_t port) const override;

 private:
  struct Dimension {
    std::uint32_t size;
    std::uint32_t stride;  // of router numbers
    std::uint32_t first_port;
  };
  // The first of the links to coordinate `to`.
  std::uint32_t port_to(const Dimension& dimension, std::uint32_t own, std::uint32_t to) const {
    return dimension.first_port + (to < own ? to : to - 1) * shape_.width;
  }
  std::uint32_t coordinate(std::uint32_t router, std::size_t d) const {
    return coordinates_[router * dimensions_.size() + d];
  }
  Hop straight_by_shortest(const Here& here, std::uint32_t first) const;
  Hop least_of(const Here& here, const Dimension& dimension, std::uint32_t straight) const;

  HyperXShape shape_;
  std::vector<Dimension> dimensions_;
  std::vector<std::uint16_t> coordinates_;  // router x dimensions + d
  std::uint32_t routers_ = 1;
  std::uint32_t host_ports_ = 0;
};

}  // namespace photon::netsim
