// What stands above the PEs of a process: the state that each of them has for it, and the functions
// that run the library's own messages. Made before a PE runs.
// Owner: the crew, by keep().
#pragma once

#include "task/run/crew.hpp"

namespace photon::task {

// Throws bad_alloc: the crew is as it was, or has parts that nothing uses.
void make_parts(Crew& crew, const ph_task_config& config);

}  // namespace photon::task
