// Dragonfly h:a:n:g: h hosts a router, a routers a group, n links (slices) between each two groups,
// g groups. Ports: hosts, the other routers of the group ascending, global ports. A group's global
// links i = slice (g - 1) + (other group) lie in order over its routers, the last ones with one
// fewer where that is uneven.
//
//   static        the slice is the source host mod n; VC + 1 after each global link
//   ugal, valiant a middle group (inside a group: a middle router) is drawn at the first router;
//                 ugal compares queues and takes the straight way or that by the middle
#pragma once

#include <vector>

#include "netsim/net/topology.hpp"

namespace photon::netsim {

enum class DragonflyRouting : std::uint8_t { shortest, ugal, valiant };

struct DragonflyShape {
  std::uint32_t hosts = 1;
  std::uint32_t routers = 1;  // of a group
  std::uint32_t slices = 1;
  std::uint32_t groups = 1;
  DragonflyRouting routing = DragonflyRouting::shortest;
};

class Dragonfly final : public Topology {
 public:
  static constexpr std::uint32_t kDetourFlits = 50;  // what a detour weighs beside its queue

  explicit Dragonfly(const DragonflyShape& shape);
  Wiring wire() const override;
  Hop route(const Here& here, Packet& packet) const override;
  std::uint32_t vcs() const override { return is_static() ? 2 : 3; }
  bool is_ordered() const override { return is_static(); }
  std::string link_class(std::uint32_t, std::uint32_t port) const override {
    return port < shape_.hosts + shape_.routers - 1 ? "local" : "global";
  }

 private:
  // Where a packet is, as its routing sees it.
  struct Place {
    std::uint32_t group;
    std::uint32_t router;  // in its group
    std::uint32_t to_group;
    std::uint32_t to_router;
    std::uint32_t vc;  // of the way on
    bool is_from_host;
    bool is_from_global;
  };
  struct Choice;

  bool is_static() const { return shape_.routing == DragonflyRouting::shortest; }
  std::uint32_t link_number(std::uint32_t slice, std::uint32_t from, std::uint32_t to) const {
    return slice * (shape_.groups - 1) + (to < from ? to : to - 1);
  }
  std::uint32_t owner(std::uint32_t link) const { return owner_[link]; }
  std::uint32_t global_port(std::uint32_t link) const;
  std::uint32_t local_port(std::uint32_t own, std::uint32_t other) const {
    return shape_.hosts + (other < own ? other : other - 1);
  }
  // The port of router `place.router` towards the link of this slice to `group`.
  std::uint32_t port_towards(const Place& place, std::uint32_t group, std::uint32_t slice) const;
  Place place_of(const Here& here, const Packet& packet) const;
  Hop towards_group(const Place& place, std::uint32_t group, std::uint32_t slice) const {
    return {port_towards(place, group, slice), place.vc};
  }
  Hop route_adaptive(const Here& here, const Place& place, Packet& packet) const;
  Hop leave_host(const Here& here, const Place& place, Packet& packet) const;
  Hop leave_within_group(const Here& here, const Place& place, Packet& packet) const;
  Hop pass_source_group(const Here& here, const Place& place, Packet& packet) const;
  Hop enter_middle_group(const Here& here, const Place& place, Packet& packet) const;

  DragonflyShape shape_;
  std::vector<std::uint32_t> owner_;       // link of a group: router
  std::vector<std::uint32_t> first_link_;  // router: its first link
};

}  // namespace photon::netsim
