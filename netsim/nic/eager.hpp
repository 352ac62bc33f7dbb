// Sends and receives: eager messages go to whatever buffer is next, larger ones by rendezvous.
//
//   rendezvous: requested --both hosts' match--> read --all of it is in--> acknowledged
//
// `rdma-usual` copies eager messages at both ends; `rdma-equal` has eager messages alone and copies
// none. The receiver's host matches at once, whatever its rank computes. Owner: one node.
#pragma once

#include "netsim/nic/node_card.hpp"

namespace photon::netsim::nic {

class EagerCard final : public NodeCard {
 public:
  EagerCard(const Settings& settings, Port& port, std::uint32_t node, bool is_usual)
      : NodeCard(settings, port, node),
        most_(is_usual ? std::max(settings.eager_bytes, costs().small) : ~std::uint32_t{0}),
        is_copied_(is_usual) {}
  Time host_time(std::uint32_t slot, const Operation& operation) override;
  void on_post(std::uint32_t slot, const Operation& operation) override;

 private:
  void launch(Pair& pair, std::uint32_t message, Time from) override;
  void on_data(Pair& pair, const Packet& packet, bool is_complete, Time from) override;
  void on_control(Pair& pair, const Packet& packet, Time from) override;
  void on_relayed(Pair& pair, const Packet& packet) override;
  bool has_buffer(const Packet& packet) const override { return packet.message_bytes > most_; }
  void serve(Pair& pair, const Packet& read, Time from);
  void acknowledged(Pair& pair, const Packet& packet, Time from);

  std::uint32_t most_;  // bytes of an eager message
  bool is_copied_;
};

}  // namespace photon::netsim::nic
