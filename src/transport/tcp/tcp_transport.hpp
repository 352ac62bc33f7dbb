// The transport between ranks of any hosts over TCP: a connection for each pair that meets,
// authenticated by the job's secret. docs/tcp.md has the protocol and its arguments.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/config.hpp"
#include "base/result.hpp"
#include "base/time_source.hpp"
#include "boot/boot.hpp"
#include "transport/transport.hpp"

namespace photon::transport::tcp {

struct TcpOptions {
  // The registrations of this rank, where they stand beside another transport's; they outlive the
  // transport and its lanes. Empty: it has its own.
  std::span<RegionEntry> regions;
  // Who connects is sent away if it has not proved to be a rank by then.
  std::int64_t pending_ns = 10'000'000'000;
  base::TimeSource time = {};  // by which all deadlines are kept
};

// `boot` outlives the transport, which is the only one to call its send() and receive(). Blocks for
// nobody. Errors: PH_ERR_CONFIG (no such interface, port or address; built without a crypto
// library), PH_ERR_SYSTEM, PH_ERR_MEMORY.
base::Result<std::unique_ptr<Transport>> open_tcp(const base::Config& config, boot::Boot& boot);
base::Result<std::unique_ptr<Transport>> open_tcp(const base::Config& config, boot::Boot& boot,
                                                  const TcpOptions& options);

}  // namespace photon::transport::tcp
