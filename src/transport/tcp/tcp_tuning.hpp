// What the kernel is told about an open connection that never leaves its host.
// Owner: none (functions).
#pragma once

#include "boot/net_address.hpp"

namespace photon::transport::tcp {

// No network lies between these ends of a connection: both are one address, or loopback ones.
bool is_within_host(const boot::Address& own, const boot::Address& other) noexcept;

// Such a connection gets Reno's congestion control, whatever the host's default is: nothing is lost
// there, and no path has to be found out. One that paces packets by its estimate of the path (BBR)
// would hold them back for nothing. All other connections stay as their host's owner wants them,
// and so does this one if the kernel refuses.
void tune_within_host(int socket) noexcept;

}  // namespace photon::transport::tcp
