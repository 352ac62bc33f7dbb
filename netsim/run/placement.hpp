// Which rank lives where. Ranks of a node are its slots; rank r lives on node r / per_node.
// Invariant: rank_at(node_of(r), slot_of(r)) == r. Owner: Common; never changed during a run.
#pragma once

#include <cstdint>

#include "netsim/nic/port.hpp"

namespace photon::netsim {

class Placement {
 public:
  explicit Placement(std::uint32_t per_node) : per_node_(per_node) {}
  std::uint32_t slots() const { return per_node_; }
  nic::Rank place_of(std::uint32_t rank) const { return {rank / per_node_, rank % per_node_}; }
  std::uint32_t rank_at(const nic::Rank& place) const {
    return place.node * per_node_ + place.slot;
  }

 private:
  std::uint32_t per_node_;
};

}  // namespace photon::netsim
