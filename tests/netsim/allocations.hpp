// How often this thread has allocated memory by operator new, which allocations.cpp replaces.
#pragma once

#include <cstdint>

namespace photon::netsim {

std::uint64_t allocations();

}  // namespace photon::netsim
