// Brings our standard input to rank 0 where that runs elsewhere. A process of its own, in the
// terminal's foreground group: nobody else may read a terminal, and to read may take for ever.
// Owner: none, functions only.
#pragma once

#include "fd.hpp"
#include "signals.hpp"

namespace photonrun {

// Forks it; it ends with our standard input, with the reader of `target`, or with us.
void start_feeder(Fd target, const Signals& signals, pid_t terminal_group);

}  // namespace photonrun
