// The layers give these parts to each PE: they are made when it starts, in one order on all PEs, so
// that all give the same numbers to their handlers. Owner: none (functions). Threads: that of the
// PE.
#pragma once

#include "converse/base/pe.hpp"

namespace photon::converse {

void start_parts(Pe& pe);

}  // namespace photon::converse
