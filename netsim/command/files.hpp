// Files as wholes: read into a text, or written so that no reader ever meets half of one.
#pragma once

#include <string>
#include <string_view>

#include "netsim/clock/result.hpp"

namespace photon::netsim::command {

struct Nothing {};

Result<std::string> read_file(const std::string& path);
// Under a temporary name in the same folder first, then by fsync and rename: whoever is killed in
// between leaves the old file, or none. "-" is the standard output.
Result<Nothing> write_file(const std::string& path, std::string_view text);
// Can a file be written there? Asked before a long run, it leaves nothing behind.
Result<Nothing> check_writable(const std::string& path);

}  // namespace photon::netsim::command
