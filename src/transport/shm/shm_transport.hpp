// The transport between ranks of one host: rings in shared memory, wake-ups by eventfd, and every
// way to touch a peer's memory that the system allows. docs/wire-format.md has the layouts.
#pragma once

#include <memory>
#include <optional>

#include "base/config.hpp"
#include "base/result.hpp"
#include "boot/boot.hpp"
#include "transport/shm/shm_process_token.hpp"
#include "transport/transport.hpp"

namespace photon::transport::shm {

// What tests change.
struct ShmOptions {
  std::optional<ProcessToken> token;  // pretend to be another process: nothing is shared directly
  bool heavy_barrier = true;          // false: as on a kernel without membarrier
};

// `boot` outlives the transport, which is the only one to call its send() and receive().
// Errors: PH_ERR_MEMORY, PH_ERR_SYSTEM, PH_ERR_CONFIG (shm_cma=on where it is forbidden).
base::Result<std::unique_ptr<Transport>> open_shm(const base::Config& config, boot::Boot& boot);
base::Result<std::unique_ptr<Transport>> open_shm(const base::Config& config, boot::Boot& boot,
                                                  const ShmOptions& options);

}  // namespace photon::transport::shm
