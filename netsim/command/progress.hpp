// How far a run is, on a terminal: simulated time, share done, and when it will be over. Without a
// terminal nothing is printed. It takes a line of the error output, which it clears at its end.
#pragma once

#include "netsim/run/watcher.hpp"

namespace photon::netsim::command {

class Progress final : public Watcher {
 public:
  Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() override;
  bool is_due() override;
  void progress(Time now, double share) override;

 private:
  bool is_terminal_;
  bool has_printed_ = false;
  double start_;
  double next_;
};

}  // namespace photon::netsim::command
