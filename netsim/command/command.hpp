// The subcommands of photon-netsim. Each returns the exit status: 0, 1 for a run or a check that
// failed, 2 for bad input. Owner: main.cpp.
#pragma once

#include <span>
#include <string_view>

namespace photon::netsim::command {

using Arguments = std::span<char* const>;

int check();
int run(Arguments arguments);
int sweep(Arguments arguments);
int ladder(Arguments arguments);
int paper(Arguments arguments);
int bench(Arguments arguments);
int keys(Arguments arguments);

// Seconds of processors that all threads of the process have had: what a busy machine takes away is
// not in it. With several threads it is no measure of speed.
double cpu_seconds();
double wall_seconds();

}  // namespace photon::netsim::command
