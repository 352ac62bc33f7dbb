// What WELCOME says of the hosts of a job: how many ranks each has, in the order of ranks.
// Invariant: at most PH_LAUNCH_MAX_HOST_RUNS, and one more that says that these were too few.
// Owner: Router.
#pragma once

#include <photon/launch.h>

#include <span>
#include <vector>

namespace photonrun {

class HostRuns {
 public:
  // The next ranks are one host's; 0: it has none, and is not of the job.
  void add(unsigned ranks);
  // None for a job of one host, and for one that needs too many.
  std::span<const ph_launch_host_run> list() const;

 private:
  std::vector<ph_launch_host_run> runs_;
};

}  // namespace photonrun
