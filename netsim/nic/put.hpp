// Protocols that write into buffers of the target by puts; they differ in how the target is told.
//
//   rvma      the target card counts bytes and writes a completion pointer; no address is needed
//   immediate the target card counts packets and writes a queue entry
//   last_byte the target's rank sees the last byte change, wherever the others are
//   ack       the target card acknowledges, then the initiator's host sends a message
//   behind    a message follows at once; the target card holds it back until all puts before are in
//
// Addresses of a peer, where they are asked for: unknown --a put--> asked --both hosts have had
// their turn--> known. Owner: one node.
#pragma once

#include "netsim/nic/node_card.hpp"

namespace photon::netsim::nic {

enum class Telling : std::uint8_t { rvma, immediate, last_byte, ack, behind };

class PutCard final : public NodeCard {
 public:
  PutCard(const Settings& settings, Port& port, std::uint32_t node, Telling telling)
      : NodeCard(settings, port, node),
        telling_(telling),
        asks_for_addresses_(telling != Telling::rvma && settings.addresses == "asked") {}
  Time host_time(std::uint32_t slot, const Operation& operation) override {
    return registration(slot, operation);
  }

 private:
  bool may_launch(Pair& pair, Time from) override;
  void launch(Pair& pair, std::uint32_t message, Time from) override;
  void on_data(Pair& pair, const Packet& packet, bool is_complete, Time from) override;
  void on_control(Pair& pair, const Packet& packet, Time from) override;
  void on_relayed(Pair& pair, const Packet& packet) override;
  void tell(const Packet& packet, Time host_ps, Time from);
  void fence(Pair& pair, const Packet& packet, Time from);

  Telling telling_;
  bool asks_for_addresses_;
};

}  // namespace photon::netsim::nic
