#include "netsim/net/torus.hpp"

namespace photon::netsim {

Wiring SingleRouter::wire() const {
  Wiring wiring;
  wiring.add_router(hosts_);
  for (std::uint32_t host = 0; host < hosts_; ++host) wiring.attach(host, host);
  return wiring;
}

Torus::Torus(std::vector<std::uint32_t> sizes, std::uint32_t hosts)
    : sizes_(std::move(sizes)), hosts_(hosts) {
  for (const std::uint32_t size : sizes_) routers_ *= size;
}

Wiring Torus::wire() const {
  Wiring wiring;
  const std::uint32_t ports = 2 * dimensions() + hosts_;
  for (std::uint32_t router = 0; router < routers_; ++router) wiring.add_router(ports);
  for (std::uint32_t router = 0; router < routers_; ++router) {
    std::uint32_t stride = 1;
    for (std::uint32_t d = 0; d < dimensions(); ++d) {
      const std::uint32_t own = router / stride % sizes_[d];
      const std::uint32_t next = (own + 1) % sizes_[d];
      const std::uint32_t other = router - own * stride + next * stride;
      wiring.connect(router * ports + 2 * d, other * ports + 2 * d + 1);
      stride *= sizes_[d];
    }
    for (std::uint32_t i = 0; i < hosts_; ++i) {
      wiring.attach(router * hosts_ + i, router * ports + 2 * dimensions() + i);
    }
  }
  return wiring;
}

Hop Torus::route(const Here& here, Packet& packet) const {
  const std::uint32_t destination = packet.destination / hosts_;
  const std::uint32_t host_ports = 2 * dimensions();
  std::uint32_t there = destination;
  std::uint32_t own_rest = here.router;
  for (std::uint32_t d = 0; d < dimensions(); ++d) {
    const std::uint32_t size = sizes_[d];
    const std::uint32_t own = own_rest % size;
    const std::uint32_t aim = there % size;
    own_rest /= size;
    there /= size;
    if (own == aim) continue;
    const std::uint32_t ahead = (aim + size - own) % size;
    const std::uint32_t port = 2 * d + (2 * ahead <= size ? 0 : 1);
    if (here.port >= host_ports) return {port, 0};
    if (own == 0) return {port, here.vc ^ 1};
    return {port, here.port / 2 == d ? here.vc : 0};
  }
  return {host_ports + packet.destination % hosts_, here.vc};
}

std::string Torus::link_class(std::uint32_t, std::uint32_t port) const {
  return "dimension_" + std::to_string(port / 2);
}

}  // namespace photon::netsim
