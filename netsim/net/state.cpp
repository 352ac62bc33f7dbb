#include "netsim/net/state.hpp"

namespace photon::netsim {

Fabric::Fabric(const Topology& its_topology, Parameters its_parameters)
    : topology(its_topology), parameters(its_parameters), wiring(its_topology.wire()) {
  router_of.resize(wiring.ports());
  for (std::uint32_t router = 0; router < wiring.routers(); ++router) {
    for (std::uint32_t port = wiring.port_base[router]; port < wiring.port_base[router + 1];
         ++port) {
      router_of[port] = router;
    }
  }
}

State::State(const Fabric& fabric, std::uint32_t parts) {
  const Wiring& wiring = fabric.wiring;
  const std::uint32_t vcs = fabric.parameters.vcs;
  const std::uint32_t room = fabric.parameters.buffer_flits;
  ports.resize(wiring.ports());
  inputs.resize(std::size_t{wiring.ports()} * vcs);
  outputs.resize(inputs.size());
  place_of.resize(inputs.size());
  for (std::uint32_t port = 0; port < wiring.ports(); ++port) {
    ports[port].peer = wiring.peer[port];
    for (std::uint32_t vc = 0; vc < vcs; ++vc) {
      inputs[port * vcs + vc].port = port;
      outputs[port * vcs + vc].credits = room;
    }
  }
  routers.resize(wiring.routers());
  for (std::uint32_t r = 0; r < wiring.routers(); ++r) {
    Router& router = routers[r];
    router.first_port = wiring.port_base[r];
    router.ports = wiring.port_base[r + 1] - router.first_port;
    const std::uint32_t queues = router.ports * vcs;
    router.first_place = static_cast<std::uint32_t>(queue_at.size());
    router.places = (2 * queues + 63) / 64 * 64;
    router.next_place = queues;
    queue_at.resize(queue_at.size() + router.places);
    for (std::uint32_t queue = 0; queue < queues; ++queue) {
      place_of[router.first_port * vcs + queue] = queue;
      queue_at[router.first_place + queue] = queue;
    }
    random.emplace_back(fabric.parameters.seed, r);
  }
  active.resize(queue_at.size() / 64);
  cards.resize(wiring.hosts);
  for (Card& card : cards) card.fifo.credits = room;
  senders.resize(ports.size() + cards.size());
  split(fabric, parts);
}

void State::split(const Fabric& fabric, std::uint32_t parts) {
  const Wiring& wiring = fabric.wiring;
  for (std::uint32_t port = 0; port < wiring.ports(); ++port) {
    const std::uint32_t first = wiring.port_base[fabric.router_of[port]];
    ports[port].part = static_cast<std::uint16_t>(std::uint64_t{first} * parts / wiring.ports());
  }
  for (Port& port : ports) {
    const bool is_of_router = (port.peer & kCardBit) == 0;  // kNone has the bit, too
    port.peer_part = is_of_router ? ports[port.peer].part : port.part;
  }
}

}  // namespace photon::netsim
