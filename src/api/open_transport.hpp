// The one place that picks a transport. Owner: none (a function).
#pragma once

#include <memory>

#include "base/config.hpp"
#include "base/result.hpp"
#include "boot/boot.hpp"
#include "transport/transport.hpp"

namespace photon::api {

// As the settings say. `auto` is shared memory where all ranks are on this host, else mixed; where
// a sandbox or a limit refuses shared memory to this process it is the network, for all peers, and
// rank 0 says so. All ranks that the same sandbox holds decide the same; one that differs is told
// so by whom it contacts.
base::Result<std::unique_ptr<transport::Transport>> open_transport(const base::Config& config,
                                                                   boot::Boot& boot);

}  // namespace photon::api
