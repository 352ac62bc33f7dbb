// All that a run depends on, as plain values with their defaults. keys.hpp names them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "netsim/clock/result.hpp"
#include "netsim/motif/motif.hpp"
#include "netsim/net/parameters.hpp"
#include "netsim/net/topology.hpp"
#include "netsim/nic/settings.hpp"

namespace photon::netsim {

// Of the model: a result that another version made is none of this one.
inline constexpr std::uint32_t kModelVersion = 1;

struct Settings {
  TopologySettings network;
  double link_GBps = 12.5;
  double crossbar_GBps = 0;  // 0: 1.5 x link
  std::uint32_t flit_bytes = 16;
  std::uint32_t packet_bytes = 2048;
  std::uint32_t header_bytes = 0;
  double link_ns = 40;
  double input_ns = 50;
  double output_ns = 50;
  std::uint32_t buffer_bytes = 64000;  // per port and VC
  std::uint32_t vcs = 0;               // 0: as many as the routing needs
  std::string delivery = "head";
  nic::Settings nic;
  std::uint32_t ranks_per_node = 1;
  std::string placement;  // the node of each rank; empty: rank r lives on node r / ranks_per_node
  double local_ns = 500;  // between ranks of one node
  double local_GBps = 20;
  MotifSettings motif;
  std::uint64_t seed = 1;
  double max_us = 0;          // 0: no bound
  std::uint32_t threads = 1;  // of no effect on the result
};

// The settings with all defaults filled in that depend on other settings, but for the number of
// VCs.
Settings with_defaults(Settings settings);

// Changes one setting; else the sentence says key, value and what is allowed.
Result<Settings> with(Settings settings, std::string_view key, std::string_view value);

// The parameters of all routers, and what rounding changed, if that is more than 0.1%.
struct Rounded {
  Parameters parameters;
  std::string note;
};
Result<Rounded> parameters_of(const Settings& settings, std::uint32_t vcs);

}  // namespace photon::netsim
