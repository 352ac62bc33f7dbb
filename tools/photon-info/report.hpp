// Findings for people and for programs.
#pragma once

#include <string>

#include "findings.hpp"

namespace photon_info {

std::string as_text(const Findings& findings);

// One object: version, launched, rank, size, problem, settings, transports, paths, peers,
// refused_calls, limits, mailbox_limits, am_limits.
std::string as_json(const Findings& findings);

// The algorithms of collective operations alone; as JSON an object with the array "coll".
std::string coll_as_text(const Findings& findings);
std::string coll_as_json(const Findings& findings);

}  // namespace photon_info
