// The parallel run: workers go through windows of simulated time, with a barrier between.
//
// A window ends one look-ahead after the first event of any worker. A packet or a credit for
// another worker takes at least so long, so that nothing can come into a window from outside it.
// Invariant: each worker sees the same events in the same order for any number of workers. Owner:
// Simulation.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "netsim/run/watcher.hpp"
#include "netsim/run/worker.hpp"

namespace photon::netsim {

// Runs all workers, each on a thread, until no events are left, the bound has passed, or a worker
// has a fault. The caller's thread runs the first. Nothing is run if there are not enough threads:
// what it returns says so; else that is empty.
// The watcher, if there is one, is told by the caller's thread.
struct WindowSettings {
  Time look_ahead = 1;
  Time bound = kNever;
  Watcher* watcher = nullptr;
};
[[nodiscard]] std::string run_windows(std::span<const std::unique_ptr<Worker>> workers,
                                      const WindowSettings& settings);

}  // namespace photon::netsim
