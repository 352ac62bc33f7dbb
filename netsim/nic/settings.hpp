// What the models of cards cost: one table for all of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "netsim/clock/result.hpp"
#include "netsim/nic/port.hpp"

namespace photon::netsim::nic {

struct Settings {
  std::string protocol = "bare";
  std::string order = "none";     // "hold": early packets are held back until those before are in
  std::string turns = "message";  // "packet": bulk messages leave packet by packet in turn
  double pcie_ns = 150;           // a command down; a write up
  double dma_GBps = 0;            // each way, shared by the node's ranks; 0: 1.5 x link
  double dma_read_ns = 0;         // from asking for a packet's bytes to their coming
  double packet_ns = 0.2;         // of the card for each packet, each way
  double lookup_ns = 0;           // rvma: of a mailbox
  double memcpy_GBps = 10;        // of a rank
  std::uint32_t eager_bytes = 16384;  // rdma-usual: up to this by copies
  double registration_ns = 300;       // of a buffer
  std::string registration = "once";  // "each": before each use
  std::string addresses = "asked";    // rdma-put*: of a peer's buffers; or "known" before the run
  double poll_ns = 0;                 // of a rank, to find what was written
  double cq_ns = 0;                   // of a rank, to read an entry of a completion queue
  std::uint32_t buffers_per_peer = 8;
  std::uint32_t mtu = 0;         // payload of a packet; 0: network.packet_bytes
  double link_GBps = 12.5;       // of the network, filled in by run/
  std::uint32_t flit_bytes = 0;  // payload of a packet of one flit; filled in by run/, too
};

// The model of `settings.protocol` for the card of one node, which has `slots` ranks; the settings
// were found good by check().
std::unique_ptr<Card> make_card(const Settings& settings, Port& port, std::uint32_t node,
                                std::uint32_t slots);

// The one card that stands for all that do the same at the same times. Without costs of queue
// entries and lookups `rvma` stands for `rdma-equal`, and for `rdma-put-imm` where addresses are
// known.
Settings stand_in_for(Settings settings);

// What is wrong with the settings, as "nic.key = value: allowed is ...", or an empty text.
// `is_ordered`: packets of one pair of nodes stay in order in this network.
std::string wrong_with(const Settings& settings, bool is_ordered);

}  // namespace photon::netsim::nic
