// What the links of a network have carried, by classes: those from hosts, those to hosts, and those
// between routers as the topology names them. A link has one direction. Links whose ends are one
// router, of a torus with a dimension of size 1, carry nothing and are left out.
#pragma once

#include <string>
#include <vector>

#include "netsim/net/state.hpp"

namespace photon::netsim {

inline constexpr const char* kFromHosts = "from_hosts";
inline constexpr const char* kToHosts = "to_hosts";

struct LinkClass {
  std::string name;
  std::uint64_t links = 0;
  std::uint64_t flits = 0;       // that all of them carried
  std::uint64_t most_flits = 0;  // that one of them carried
  Time stalled = 0;              // of all of them
  Time most_stalled = 0;         // of one of them
  std::uint32_t peak_flits = 0;  // of one of the FIFOs, per VC, that send on them
};

// After a run; in the order in which classes first come, hosts' ones before.
std::vector<LinkClass> links_by_class(const Fabric& fabric, const State& state);

}  // namespace photon::netsim
