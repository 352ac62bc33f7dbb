#include "netsim/net/links.hpp"

#include <algorithm>

namespace photon::netsim {
namespace {

void add(LinkClass& all, const Sender& sender, const OutputQueue* queues, std::uint32_t count) {
  ++all.links;
  all.flits += sender.flits;
  all.most_flits = std::max(all.most_flits, sender.flits);
  all.stalled += sender.stalled;
  all.most_stalled = std::max(all.most_stalled, sender.stalled);
  for (std::uint32_t i = 0; i < count; ++i) {
    all.peak_flits = std::max(all.peak_flits, queues[i].peak);
  }
}

LinkClass& class_named(std::vector<LinkClass>& classes, const std::string& name) {
  for (LinkClass& its : classes) {
    if (its.name == name) return its;
  }
  classes.emplace_back();
  classes.back().name = name;
  return classes.back();
}

}  // namespace

std::vector<LinkClass> links_by_class(const Fabric& fabric, const State& state) {
  std::vector<LinkClass> classes;
  class_named(classes, kFromHosts);
  class_named(classes, kToHosts);
  const std::size_t ports = state.ports.size();
  for (std::size_t host = 0; host < state.cards.size(); ++host) {
    add(classes[0], state.senders[ports + host], &state.cards[host].fifo, 1);
  }
  const std::uint32_t vcs = fabric.parameters.vcs;
  for (std::uint32_t port = 0; port < ports; ++port) {
    const std::uint32_t peer = state.ports[port].peer;
    const std::uint32_t router = fabric.router_of[port];
    const bool is_to_host = (peer & kCardBit) != 0;  // kNone has the bit, too
    if (peer == kNone || (!is_to_host && fabric.router_of[peer] == router)) continue;
    const std::uint32_t own = port - fabric.wiring.port_base[router];
    LinkClass& its =
        is_to_host ? classes[1] : class_named(classes, fabric.topology.link_class(router, own));
    add(its, state.senders[port], &state.outputs[std::size_t{port} * vcs], vcs);
  }
  return classes;
}

}  // namespace photon::netsim
