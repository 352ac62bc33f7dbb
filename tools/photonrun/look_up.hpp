// getaddrinfo() with an end: it stands still for as long as name servers do, so a process of its
// own asks it, while this one waits as it waits for everything. Invariant: that process is gone
// when the call returns or throws. Owner: none (functions).
#pragma once

#include <string>
#include <vector>

#include "address.hpp"
#include "startup_wait.hpp"

namespace photonrun {

// How long photonrun waits for name servers where nobody said.
inline constexpr auto kLookUpTime = std::chrono::seconds(20);

// `flags`: AI_... Of no answer until then: EAI_AGAIN. Throws Interrupted.
Found look_up(const HostPort& place, int flags, const StartupWait& startup_wait,
              StartupWait::Clock::time_point until);

// Listens at all addresses of that name, and says what is odd about them. Throws std::runtime_error
// and Interrupted.
std::vector<Fd> listen_at(const HostPort& place, const StartupWait& startup_wait);

// An address of this host for others whose own is not known here: that of its name, of the way to
// everywhere, of a network that it is on. A loopback address only where there is no other.
std::string outward_address(const StartupWait& startup_wait, StartupWait::Clock::time_point until);

}  // namespace photonrun
