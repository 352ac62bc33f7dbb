// What theory says of whole runs: the latency of an idle network, and the time that the most loaded
// link of a saturated one takes for its bytes.
#pragma once

#include <vector>

#include "netsim/run/table.hpp"

namespace photon::netsim {

// One message in an otherwise idle network: random topologies, rates, latencies and sizes. The runs
// must be equal to the formula. `seed` draws others.
std::vector<TableRow> idle_rows(std::uint32_t count, std::uint64_t seed);

// Traffic that loads one kind of link: a ring, bisections, incasts. The runs must be within
// kSaturationError of bytes / rate of the most loaded link.
inline constexpr double kSaturationError = 0.01;
std::vector<TableRow> saturation_rows();

}  // namespace photon::netsim
