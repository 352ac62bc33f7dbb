// Which processes run on one host: physical nodes, in the words of Converse.
// Owner: none (functions). Threads: the one that starts the PEs.
#pragma once

#include "converse/run/process.hpp"

namespace photon::converse {

// Fills host_of. Collective over the processes.
void find_hosts(Process& process);

}  // namespace photon::converse
