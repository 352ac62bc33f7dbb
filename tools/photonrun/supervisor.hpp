// The process the user started. It forks the launcher, passes signals on to it, and returns its
// status. Each of the two ends everything below if the other one is killed: the launcher sees the
// lifeline close, the supervisor, also a child subreaper, inherits the launcher's orphans.
//
// Invariant: run_guarded() returns with no process left below this one. Owner: main().
#pragma once

#include "options.hpp"
#include "signals.hpp"

namespace photonrun {

// The status photonrun exits with. Throws std::system_error.
int run_guarded(const Options& options, Signals& signals);

}  // namespace photonrun
