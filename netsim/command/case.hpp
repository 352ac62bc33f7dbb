// A case of tests/netsim/oracle.py, as settings.
#pragma once

#include <string>
#include <string_view>

#include "netsim/run/settings.hpp"

namespace photon::netsim::command {

// `name` is the file's, for sentences.
Result<Settings> settings_of_case(const std::string& name, std::string_view text);

}  // namespace photon::netsim::command
