// The ladder of a configuration: where the gain of rvma over rdma-usual comes from, in steps that
// change one thing each.
//
//   protocols: rdma-usual -> rdma-equal -> rdma-put-ack -> rdma-put-behind -> rdma-put-imm -> rvma
//   order:     static rdma-put -> adaptive rdma-put, held -> adaptive rvma
//   addresses: rdma-put-ack that asks each peer once -> rdma-put-ack
//
// On all ladders puts know the addresses of their peers before, but for that first rung: what
// asking costs is large in a short run and nothing in a long one, and would hide the other steps.
// Effects do not add up in any order, so the order is fixed. Invariant: a step is the difference of
// neighbours, so the steps sum to the whole. Owner: the caller; all of it is plain values.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "netsim/run/settings.hpp"

namespace photon::netsim {

struct Rung {
  std::string name;
  std::string effect;  // of the step to it; empty for the first one
  Settings settings;
};

struct Ladder {
  std::string name;
  std::vector<Rung> rungs;
};

struct Step {
  std::string effect;
  Time from = 0;
  Time to = 0;
  // Picoseconds; above zero: it is faster above the step than below it.
  std::int64_t gain_ps() const { return static_cast<std::int64_t>(from - to); }
};

// The routing beside `static` that the ladder of order uses: that of the settings if it is another
// one, else the topology's own; empty if the topology has none.
std::string adaptive_routing_of(const TopologySettings& network);
// The settings with a protocol as a rung has it: no order, addresses known.
Settings with_protocol(Settings settings, const std::string& protocol);
// The card that asks each peer for its addresses before the first put.
Settings asking_for_addresses(Settings settings);
// The card that is told by the last byte, where packets stay in order (`routing` is static) or are
// put in order.
Settings told_by_last_byte(Settings settings, const std::string& routing);

// The ladders of the settings, whatever their protocol and order are. There is none of order where
// the topology has no routing but `static`.
std::vector<Ladder> ladders_of(const Settings& settings);
// `times`: of each rung, when its last rank was done.
std::vector<Step> steps_of(const Ladder& ladder, std::span<const Time> times);

}  // namespace photon::netsim
