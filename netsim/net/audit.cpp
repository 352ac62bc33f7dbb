#include "netsim/net/audit.hpp"

#include <algorithm>

#include "netsim/net/part.hpp"

namespace photon::netsim {

Audit::Stamp& Audit::stamp(std::uint32_t packet) {
  if (packet >= stamps_.size()) stamps_.resize(2 * std::size_t{packet} + 1);
  return stamps_[packet];
}

void Audit::joins(std::size_t fifo, std::uint32_t length, std::uint32_t packet, Time now) {
  Gauge& gauge = gauges_[fifo];
  gauge.area += length * (now - gauge.since);
  gauge.since = now;
  stamp(packet).came = now;
}

void Audit::leaves(std::size_t fifo, std::uint32_t length, std::uint32_t packet, Time now) {
  Gauge& gauge = gauges_[fifo];
  gauge.area += length * (now - gauge.since);
  gauge.since = now;
  const Stamp& its = stamp(packet);
  gauge.waited += its.flits * (now - its.came);
}

void Audit::comes(std::uint32_t packet, const Packet& its) { stamp(packet) = {its.at, its.flits}; }

void Audit::leaves_input(std::size_t fifo, const Pool<Packet>& packets, std::uint32_t first,
                         Time now) {
  Gauge& gauge = gauges_[fifo];
  for (std::uint32_t i = first; i != kNone && packets[i].at < now; i = packets[i].next) {
    gauge.area += packets[i].flits * (now - std::max(gauge.since, packets[i].at));
  }
  gauge.since = now;
  const Stamp& its = stamp(first);
  gauge.waited += its.flits * (now - its.came);
}

std::string Audit::what_disagrees(const Fabric& fabric) const {
  for (std::size_t fifo = 0; fifo < gauges_.size(); ++fifo) {
    const Gauge& gauge = gauges_[fifo];
    if (gauge.area == gauge.waited) continue;
    const std::string name = fifo < 2 * inputs_
                                 ? channel_name(fabric, static_cast<std::uint32_t>(fifo))
                                 : "the card of host " + std::to_string(fifo - 2 * inputs_);
    return "Little's law does not hold for " + name + ": its length over time is " +
           std::to_string(gauge.area) + " flits x ps, its packets waited " +
           std::to_string(gauge.waited);
  }
  return {};
}

}  // namespace photon::netsim
