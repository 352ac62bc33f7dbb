// The card of the validation table: nothing costs time but the link. It cuts messages into packets
// as its FIFO has room, one message after the other in the order of posting, and tells a rank of a
// message when all of it is in. Owner: one node.
#pragma once

#include <vector>

#include "netsim/nic/arrivals.hpp"

namespace photon::netsim::nic {

class BareCard final : public Card {
 public:
  BareCard(Port& port, std::uint32_t node, std::uint32_t mtu)
      : port_(port), node_(node), mtu_(mtu) {}
  Time host_time(std::uint32_t, const Operation&) override { return 0; }
  void on_post(std::uint32_t slot, const Operation& operation) override;
  void on_packet(const Packet& packet) override;
  void on_room() override;
  void on_timer(Timer) override {}
  void on_buffer(std::uint32_t, Rank) override {}
  Figures figures() const override { return {arrivals_.out_of_order(), 0, 0}; }

 private:
  struct Waiting {
    Packet packet;
    bool is_told;
  };

  Port& port_;
  std::uint32_t node_;
  std::uint32_t mtu_;
  std::uint32_t messages_ = 0;      // posted
  std::uint32_t sent_packets_ = 0;  // of the first waiting message
  std::size_t first_ = 0;           // in waiting_
  std::vector<Waiting> waiting_;    // whole messages, not cut yet
  Arrivals arrivals_;
};

}  // namespace photon::netsim::nic
