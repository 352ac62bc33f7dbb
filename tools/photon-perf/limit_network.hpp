// Which limits a row has: those of what its transport stands on.
// Owner: none.
#pragma once

#include <string>
#include <vector>

#include "limit_fabric.hpp"
#include "link.hpp"

namespace photon::perf {

// Of shared memory, of a bare socket or of bare libfabric; and, if they are none, why.
struct Limits {
  std::vector<Entry> entries;
  std::string missing;

  // For the row's remark.
  std::string note() const { return missing.empty() ? "" : "; no limit: " + missing; }
};

FabricNames fabric_names(const Job& job);

// Both members of the link's team call each in step; the link outlives the entries.
Limits put_latency_limits(const Link& link, MemoryKind kind);
Limits put_rate_limits(const Link& link);
Limits put_bandwidth_limits(const Link& link, MemoryKind kind);

}  // namespace photon::perf
