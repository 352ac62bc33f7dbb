// What a run took, from the stopwatch's making on.
#pragma once

#include <sys/resource.h>

#include "netsim/command/command.hpp"
#include "netsim/command/result_json.hpp"

namespace photon::netsim::command {

class Stopwatch {
 public:
  Speed speed() const {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return {wall_seconds() - start_, cpu_seconds() - start_cpu_,
            static_cast<std::uint64_t>(usage.ru_maxrss) * 1024};
  }

 private:
  double start_ = wall_seconds();
  double start_cpu_ = cpu_seconds();
};

}  // namespace photon::netsim::command
