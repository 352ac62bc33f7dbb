// The key by which the hosts of a job know each other. From a variable or a file, never from an
// argument: these are readable by everybody on the host. Owner: none, functions only.
#pragma once

#include <string>

namespace photonrun {

inline constexpr const char* kKeyVariable = "PHOTON_JOB_KEY";
inline constexpr std::size_t kMinKeyBytes = 16;

// `file`: empty: the variable, which is then removed from the environment that ranks get. Throws
// std::runtime_error: there is none, it is short, others can read the file.
std::string read_job_key(const std::string& file);
// Takes it out of the environment that ranks inherit.
void forget_job_key();

}  // namespace photonrun
