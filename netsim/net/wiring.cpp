#include "netsim/net/topology.hpp"

namespace photon::netsim {

void Wiring::add_router(std::uint32_t ports) {
  port_base.push_back(port_base.back() + ports);
  peer.resize(port_base.back(), kNone);
}

void Wiring::connect(std::uint32_t port, std::uint32_t other) {
  peer[port] = other;
  peer[other] = port;
}

void Wiring::attach(std::uint32_t host, std::uint32_t port) {
  peer[port] = kCardBit | host;
  if (host >= host_port.size()) host_port.resize(host + 1);
  host_port[host] = port;
  hosts = static_cast<std::uint32_t>(host_port.size());
}

}  // namespace photon::netsim
