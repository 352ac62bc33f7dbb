// The transport over libfabric: ring lines and chunks as messages between endpoints that are
// reliable and keep their order, whatever provider carries them; each pair authenticated by the
// job's secret. docs/ofi.md has the protocol and its arguments.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/config.hpp"
#include "base/result.hpp"
#include "base/time_source.hpp"
#include "boot/boot.hpp"
#include "transport/ofi/fabric.hpp"
#include "transport/transport.hpp"

namespace photon::transport::ofi {

struct OfiOptions {
  std::span<RegionEntry> regions;  // as those of TcpOptions
  // How long memory that is taken back waits for peers to give their leases back, before our RMA
  // endpoint ends, which takes that long, too, and costs all peers their leases.
  std::int64_t give_back_ns = 20'000'000;
  base::TimeSource time = {};  // by which all deadlines are kept
};

// `boot` outlives the transport, which is the only one to call its send() and receive(). Blocks for
// nobody. Errors: PH_ERR_CONFIG (built without libfabric or without a crypto library; no provider
// will do, and why), PH_ERR_SYSTEM, PH_ERR_MEMORY.
base::Result<std::unique_ptr<Transport>> open_ofi(const base::Config& config, boot::Boot& boot,
                                                  const OfiOptions& options = {});
// Over a fabric of the caller's.
base::Result<std::unique_ptr<Transport>> open_ofi_over(const base::Config& config, boot::Boot& boot,
                                                       OpenFabric open,
                                                       const OfiOptions& options = {});

}  // namespace photon::transport::ofi
