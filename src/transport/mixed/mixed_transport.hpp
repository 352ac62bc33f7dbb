// The transport of a job on several hosts: shm for the ranks of this host, tcp for all others.
// docs/mixed.md has the rule, the invariants and their arguments.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "base/result.hpp"
#include "boot/boot.hpp"
#include "transport/transport.hpp"

namespace photon::transport::mixed {

// How the two transports are opened, each with the side channel to its own ranks. Used while
// open_mixed() runs. The far one is given the registrations of the near one: they are the rank's.
struct Children {
  using Opened = base::Result<std::unique_ptr<Transport>>;
  std::function<Opened(boot::Boot&)> near;
  std::function<Opened(boot::Boot&, std::span<RegionEntry>)> far;
};

// `boot` outlives the transport, which is the only one to call its send() and receive(). Who is
// near: this rank, and whom boot.passes_descriptors() names. Errors: what opening a child says.
base::Result<std::unique_ptr<Transport>> open_mixed(boot::Boot& boot, const Children& children);

}  // namespace photon::transport::mixed
