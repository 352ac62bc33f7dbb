// A network without cards' models: packets are sent by hand, and what arrives is written down.
#pragma once

#include <vector>

#include "netsim/net/part.hpp"

namespace photon::netsim {

struct Delivery {
  Time at;
  std::uint32_t host;
  std::uint32_t name;
  friend bool operator==(const Delivery&, const Delivery&) = default;
};

class WireBench final : public CardSide {
 public:
  WireBench(const Topology& topology, const Parameters& parameters)
      : fabric_(topology, parameters), state_(fabric_, 1), part_(fabric_, state_, *this, 0, 1) {}

  // A packet that its host sends at `time`, of so many flits, with a name.
  void send(Time time, Packet packet, std::uint32_t name) {
    packet.cargo[0] = name;
    part_.queue().push(Event::at(time, EventKind::host, packet.source, packets_.size()));
    packets_.push_back(packet);
  }
  const std::vector<Delivery>& run() {
    while (!part_.queue().is_empty()) {
      const Event event = part_.queue().pop();
      if (!part_.handle(event)) part_.send(packets_[event.payload]);
    }
    return deliveries_;
  }
  Part& part() { return part_; }

 private:
  void on_packet(std::uint32_t host, const Packet& packet) override {
    deliveries_.push_back({part_.now(), host, packet.cargo[0]});
  }
  void on_room(std::uint32_t) override {}

  Fabric fabric_;
  State state_;
  Part part_;
  std::vector<Packet> packets_;
  std::vector<Delivery> deliveries_;
};

inline Packet packet_of(std::uint32_t source, std::uint32_t destination, std::uint16_t flits) {
  Packet packet;
  packet.source = source;
  packet.destination = destination;
  packet.flits = flits;
  return packet;
}

}  // namespace photon::netsim
