// The handlers of libphoton_task that all messages of the program name.
// Invariant: a PE that is leaving runs none of them; what was for any PE of its process goes to one
// that is not leaving.
// Owner: none (functions). Threads: that of the PE.
#pragma once

#include "converse/base/pe.hpp"

namespace photon::converse {

void enroll_dispatch(Pe& pe) noexcept;

}  // namespace photon::converse
