// What every router and card port of a network has in common. Sizes are flits, times picoseconds.
#pragma once

#include <cstdint>

#include "netsim/clock/time.hpp"

namespace photon::netsim {

struct Parameters {
  Time flit_ps = 1280;                // F: a flit on a link
  Time crossbar_ps = 853;             // X: a flit through the crossbar, and its clock
  Time link_ps = 40000;               // L
  Time input_ps = 50000;              // I
  Time output_ps = 50000;             // O
  std::uint32_t buffer_flits = 1000;  // per port and VC: input and output
  std::uint32_t card_flits = 1000;    // a card's FIFO
  std::uint32_t vcs = 1;
  bool is_delivered_at_tail = false;
  std::uint64_t seed = 1;

  Time router_to_router_ps() const { return output_ps + link_ps + input_ps; }  // packet and credit
  Time card_to_router_ps() const { return link_ps + input_ps; }
  Time router_to_card_ps() const { return output_ps + link_ps; }  // packet and credit
  Time card_credit_ps() const { return kPicosecondsPerNs + link_ps + input_ps; }
};

}  // namespace photon::netsim
