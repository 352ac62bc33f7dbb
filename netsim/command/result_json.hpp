// A result as JSON. All but "this_run" is a function of the settings: the same bytes for any number
// of threads. "this_run" holds what this run of the program had: threads, seconds, memory.
#pragma once

#include <string>
#include <string_view>

#include "netsim/run/settings.hpp"
#include "netsim/run/simulation.hpp"

namespace photon::netsim::command {

inline constexpr std::uint32_t kResultVersion = 1;

struct Speed {
  double seconds = 0;
  double cpu_seconds = 0;
  std::uint64_t memory_bytes = 0;  // of the process, at most so far
};

std::string result_json(const Settings& settings, const RunResult& result, const Speed& speed);
// Is it a whole result of these settings, of this version of the model and of the format?
bool is_result_of(const Settings& settings, std::string_view text);
// The name tells the settings' result from all others: 32 hexadecimal digits.
std::string name_of(const Settings& settings, std::string_view files);

}  // namespace photon::netsim::command
