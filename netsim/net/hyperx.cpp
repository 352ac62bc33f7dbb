#include "netsim/net/hyperx.hpp"

namespace photon::netsim {

HyperX::HyperX(HyperXShape shape) : shape_(std::move(shape)) {
  for (const std::uint32_t size : shape_.sizes) {
    dimensions_.push_back({size, routers_, host_ports_});
    routers_ *= size;
    host_ports_ += (size - 1) * shape_.width;
  }
  coordinates_.reserve(routers_ * dimensions_.size());
  for (std::uint32_t router = 0; router < routers_; ++router) {
    for (const Dimension& dimension : dimensions_) {
      coordinates_.push_back(
          static_cast<std::uint16_t>(router / dimension.stride % dimension.size));
    }
  }
}

Wiring HyperX::wire() const {
  Wiring wiring;
  const std::uint32_t ports = host_ports_ + shape_.hosts;
  for (std::uint32_t router = 0; router < routers_; ++router) wiring.add_router(ports);
  for (std::uint32_t router = 0; router < routers_; ++router) {
    for (std::size_t d = 0; d < dimensions_.size(); ++d) {
      const Dimension& dimension = dimensions_[d];
      const std::uint32_t own = coordinate(router, d);
      for (std::uint32_t to = own + 1; to < dimension.size; ++to) {
        const std::uint32_t other = router + (to - own) * dimension.stride;
        const std::uint32_t here = router * ports + port_to(dimension, own, to);
        const std::uint32_t there = other * ports + port_to(dimension, to, own);
        for (std::uint32_t w = 0; w < shape_.width; ++w) wiring.connect(here + w, there + w);
      }
    }
    for (std::uint32_t i = 0; i < shape_.hosts; ++i) {
      wiring.attach(router * shape_.hosts + i, router * ports + host_ports_ + i);
    }
  }
  return wiring;
}

std::string HyperX::link_class(std::uint32_t, std::uint32_t port) const {
  std::size_t d = 0;
  while (d + 1 < dimensions_.size() && port >= dimensions_[d + 1].first_port) ++d;
  return "dimension_" + std::to_string(d);
}

Hop HyperX::route(const Here& here, Packet& packet) const {
  const std::uint32_t destination = packet.destination / shape_.hosts;
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    const std::uint32_t own = coordinate(here.router, d);
    const std::uint32_t aim = coordinate(destination, d);
    if (own == aim) continue;
    const std::uint32_t straight = port_to(dimensions_[d], own, aim);
    if (!shape_.is_adaptive) return {straight, 0};
    if (here.vc == 1) return straight_by_shortest(here, straight);
    return least_of(here, dimensions_[d], straight);
  }
  return {host_ports_ + packet.destination - destination * shape_.hosts, here.vc};
}

// After a detour: straight on VC 0, by the link whose queue of VC 1 is the shortest.
Hop HyperX::straight_by_shortest(const Here& here, std::uint32_t first) const {
  std::uint32_t best = first;
  for (std::uint32_t port = first + 1; port < first + shape_.width; ++port) {
    if (here.queues.length(port, 1) < here.queues.length(best, 1)) best = port;
  }
  return {best, 0};
}

// Straight links on VC 0 weigh their queue, all others on VC 1 twice their queue and one more.
Hop HyperX::least_of(const Here& here, const Dimension& dimension, std::uint32_t straight) const {
  const std::uint32_t end = dimension.first_port + (dimension.size - 1) * shape_.width;
  Hop best{straight, 0};
  std::uint32_t least = ~std::uint32_t{0};
  for (std::uint32_t port = dimension.first_port; port < end; ++port) {
    const bool is_straight = port >= straight && port < straight + shape_.width;
    const std::uint32_t weight =
        is_straight ? here.queues.length(port, 0) : 2 * here.queues.length(port, 1) + 1;
    if (weight < least) {
      least = weight;
      best = {port, is_straight ? 0U : 1U};
    }
  }
  return best;
}

}  // namespace photon::netsim
