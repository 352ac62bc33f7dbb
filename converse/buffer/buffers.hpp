// The layer's part in each PE: converse/run makes it, and it stays until the process ends.
#pragma once

#include "converse/base/pe.hpp"

namespace photon::converse {

void start_buffers(Pe& pe);

}  // namespace photon::converse
