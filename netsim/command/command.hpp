// The subcommands of photon-netsim. Each returns the exit status: 0, 1 for a run or a check that
// failed, 2 for bad input. Owner: main.cpp.
#pragma once

#include <span>
#include <string_view>

namespace photon::netsim::command {

using Arguments = std::span<char* const>;

int check();
int run(Arguments arguments);
int bench(Arguments arguments);
int keys();

// The processor's seconds that this thread has had: what a busy machine takes away is not in it.
double cpu_seconds();

}  // namespace photon::netsim::command
