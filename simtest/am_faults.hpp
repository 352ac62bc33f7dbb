// Active messages that break their promises on purpose, so that tests can show that it is found:
// the services of a rank under one of these faults. Owner: none.
#pragma once

#include <span>

#include "service/service.hpp"
#include "transport/sim/sim_network.hpp"

namespace photon::simtest {

// Empty: the fault is none of active messages.
std::span<const service::Kind> am_faults(transport::sim::Fault::Kind fault);

}  // namespace photon::simtest
