// A done has its turn at the PE that it is for (dones.hpp): what it names is looked up, since a
// peer may have made it up. Owner: none (one function of the PE).
#pragma once

#include "task/run/pe.hpp"

namespace photon::task {

// Kind::done.
bool run_done(Pe& pe, Message& message) noexcept;

}  // namespace photon::task
