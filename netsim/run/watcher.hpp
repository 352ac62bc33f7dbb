// Who is told how far a run is. Invariant: it has no effect on the result. Owner: the caller of
// Simulation::run(), from whose thread it is called.
#pragma once

#include "netsim/clock/time.hpp"

namespace photon::netsim {

class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual bool is_due() = 0;  // asked often: is it time to be told again?
  // `share`: of the motif that is done, as some ranks of the first part see it.
  virtual void progress(Time now, double share) = 0;
};

}  // namespace photon::netsim
