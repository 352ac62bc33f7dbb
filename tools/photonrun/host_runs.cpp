#include "host_runs.hpp"

namespace photonrun {

void HostRuns::add(unsigned ranks) {
  if (ranks == 0 || runs_.size() > PH_LAUNCH_MAX_HOST_RUNS) return;
  if (!runs_.empty() && runs_.back().ranks == ranks) {
    ++runs_.back().hosts;
  } else {
    runs_.push_back({.hosts = 1, .ranks = ranks});
  }
}

std::span<const ph_launch_host_run> HostRuns::list() const {
  const bool is_one_host = runs_.size() == 1 && runs_.front().hosts == 1;
  if (is_one_host || runs_.size() > PH_LAUNCH_MAX_HOST_RUNS) return {};
  return runs_;
}

}  // namespace photonrun
