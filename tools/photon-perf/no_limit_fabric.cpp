// In the place of bare_fabric.cpp and limit_fabric.cpp where the build has found no libfabric.
#include "limit_fabric.hpp"

namespace photon::perf {

FabricLimits::FabricLimits(Team& team, const Buffers& buffers, const FabricNames& /*names*/)
    : team_(&team),
      buffers_(&buffers),
      missing_("this photon-perf was built without libfabric (libfabric-dev 1.17 or later)") {}

std::vector<Entry> FabricLimits::latency() const { return {}; }
std::vector<Entry> FabricLimits::rate() const { return {}; }
std::vector<Entry> FabricLimits::bandwidth() const { return {}; }

std::optional<double> bare_contact_bytes(Team& /*crew*/, const FabricNames& /*names*/,
                                         std::uint32_t /*skipped*/) {
  return std::nullopt;
}

}  // namespace photon::perf
