// Settings as JSON, for what is written as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "netsim/run/settings.hpp"

namespace photon::netsim::command {

// Every key with its value, run.threads apart, which changes no result.
nlohmann::ordered_json settings_json(const Settings& settings);
// The text of a file: indented, and of bytes that are no UTF-8 what can be shown.
std::string file_text(const nlohmann::ordered_json& json);

}  // namespace photon::netsim::command
