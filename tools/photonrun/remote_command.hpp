// The command that starts the photonrun of a host: by ssh, or at once if it is this host.
// Invariant: no secret is in it. Owner: none (values and functions).
#pragma once

#include <string>
#include <vector>

#include "host_list.hpp"
#include "options.hpp"

namespace photonrun {

inline constexpr const char* kSshVariable = "PHOTON_SSH";

struct Errand {
  HostSlots host;
  std::string place;  // HOST:PORT to join at
  unsigned seat = 0;
  unsigned ranks = 0;
};

// Program and arguments. Throws std::runtime_error.
std::vector<std::string> command_for(const Errand& errand, const Options& options);

}  // namespace photonrun
