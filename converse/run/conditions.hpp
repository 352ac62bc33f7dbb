// Functions that a program has called at conditions, and after a time.
//
//   once: asked for -- the condition --> over;  -- cancelled --> over
//   keep: asked for -- the condition --> asked for;  -- cancelled --> over
//
// Conditions of idleness and of the loop are those of libphoton_task; periods are its timers, one
// for each period of which somebody wants to hear; those of the program are raised by it alone.
// Invariant: libphoton_task is asked for a condition while its list has functions, and no longer.
// Owner: the PE. Threads: that of the PE.
#pragma once

#include "converse/base/pe.hpp"

namespace photon::converse {

void start_conditions(Pe& pe);

}  // namespace photon::converse
