// How a process starts its PEs: a context, lanes of one number for all processes, threads.
//
//   context -- lanes from kFirstLane on, 256 further while one was used before --> all tell what
//   they have --> the greatest number is opened by all --> machines, threads --> all tell whether
//   that went well --> running
//
// Whoever fails says so to the others, so an error of one is an error of all.
// Owner: none (one function).
#pragma once

#include <photon/task.h>

#include "task/run/crew.hpp"

namespace photon::task {

// Null: *error says why. The config was checked.
Crew* start(const ph_task_config& config, ph_error& error);

}  // namespace photon::task
