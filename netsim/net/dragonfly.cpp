#include "netsim/net/dragonfly.hpp"

namespace photon::netsim {

Dragonfly::Dragonfly(const DragonflyShape& shape) : shape_(shape) {
  const std::uint32_t links = shape_.slices * (shape_.groups - 1);
  for (std::uint32_t router = 0; router < shape_.routers; ++router) {
    const std::uint32_t one_more = router < links % shape_.routers ? 1 : 0;
    first_link_.push_back(static_cast<std::uint32_t>(owner_.size()));
    owner_.insert(owner_.end(), links / shape_.routers + one_more, router);
  }
  first_link_.push_back(links);
}

std::uint32_t Dragonfly::global_port(std::uint32_t link) const {
  return shape_.hosts + shape_.routers - 1 + link - first_link_[owner(link)];
}

std::uint32_t Dragonfly::port_towards(const Place& place, std::uint32_t group,
                                      std::uint32_t slice) const {
  const std::uint32_t link = link_number(slice, place.group, group);
  if (owner(link) == place.router) return global_port(link);
  return local_port(place.router, owner(link));
}

Wiring Dragonfly::wire() const {
  Wiring wiring;
  const std::uint32_t a = shape_.routers;
  for (std::uint32_t router = 0; router < a * shape_.groups; ++router) {
    const std::uint32_t own = router % a;
    wiring.add_router(shape_.hosts + a - 1 + first_link_[own + 1] - first_link_[own]);
    for (std::uint32_t i = 0; i < shape_.hosts; ++i) {
      wiring.attach(router * shape_.hosts + i, wiring.port_base[router] + i);
    }
  }
  for (std::uint32_t group = 0; group < shape_.groups; ++group) {
    for (std::uint32_t own = 0; own < a; ++own) {
      for (std::uint32_t other = own + 1; other < a; ++other) {
        wiring.connect(wiring.port_base[group * a + own] + local_port(own, other),
                       wiring.port_base[group * a + other] + local_port(other, own));
      }
    }
    for (std::uint32_t to = group + 1; to < shape_.groups; ++to) {
      for (std::uint32_t slice = 0; slice < shape_.slices; ++slice) {
        const std::uint32_t out = link_number(slice, group, to);
        const std::uint32_t back = link_number(slice, to, group);
        wiring.connect(wiring.port_base[group * a + owner(out)] + global_port(out),
                       wiring.port_base[to * a + owner(back)] + global_port(back));
      }
    }
  }
  return wiring;
}

Dragonfly::Place Dragonfly::place_of(const Here& here, const Packet& packet) const {
  const std::uint32_t destination = packet.destination / shape_.hosts;
  const bool is_from_global = here.port >= shape_.hosts + shape_.routers - 1;
  return {here.router / shape_.routers,
          here.router % shape_.routers,
          destination / shape_.routers,
          destination % shape_.routers,
          here.vc + (is_from_global ? 1 : 0),
          here.port < shape_.hosts,
          is_from_global};
}

Hop Dragonfly::route(const Here& here, Packet& packet) const {
  const Place place = place_of(here, packet);
  const bool is_in_group = place.group == place.to_group;
  if (is_in_group && place.router == place.to_router) {
    return {packet.destination % shape_.hosts, place.vc};
  }
  if (!is_static()) return route_adaptive(here, place, packet);
  if (is_in_group) return {local_port(place.router, place.to_router), place.vc};
  return towards_group(place, place.to_group, packet.source % shape_.slices);
}

}  // namespace photon::netsim
