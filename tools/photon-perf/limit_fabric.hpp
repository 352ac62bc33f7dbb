// What transport ofi is measured against: bare libfabric endpoints (FI_EP_RDM) of the same provider
// between the same two processes, both spinning on them, on the same buffers. Where the build has
// no libfabric there are no such limits, and missing() says so. Invariant: both members of a team
// construct it and run its entries in step. Owner: the question.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "contest.hpp"
#include "limits.hpp"

namespace photon::perf {

class BareFabric;

// The settings ofi_provider and ofi_domain in force.
struct FabricNames {
  std::string provider = "auto";
  std::string domain = "auto";
};

class FabricLimits {
 public:
  FabricLimits(Team& team, const Buffers& buffers, const FabricNames& names);

  // Why the entries are none; empty: they are there.
  const std::string& missing() const noexcept { return missing_; }

  // One way of a message, summed by the receiver: fi_send() whole and in pieces that need no
  // rendezvous, fi_inject(), and fi_writedata() where the provider has FI_RMA; the best counts.
  std::vector<Entry> latency() const;
  // Messages of 8 bytes a second, a call each.
  std::vector<Entry> rate() const;
  // Messages a second, each received or written in its place and read there.
  std::vector<Entry> bandwidth() const;

 private:
  [[maybe_unused]] Team* team_;  // where there is no libfabric; and so:
  [[maybe_unused]] const Buffers* buffers_;
  std::shared_ptr<BareFabric> fabric_;
  std::string missing_;
};

// What one more peer costs rank 0 by the bare provider: bytes that its process grows by, on
// average, while a word goes to each of the others but the first `skipped`, and one comes back. All
// ranks of the job call it; nothing where one of them has no libfabric.
std::optional<double> bare_contact_bytes(Team& crew, const FabricNames& names,
                                         std::uint32_t skipped);

}  // namespace photon::perf
