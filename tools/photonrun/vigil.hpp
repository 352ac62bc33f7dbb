// Waiting before the job has begun, in the launcher process: for descriptors, a time, and all the
// while for signals and the guardian's end.
// Invariant: whoever waits here can be interrupted. Owner: the launcher process.
#pragma once

#include <poll.h>

#include <chrono>
#include <string_view>
#include <vector>

#include "signals.hpp"

namespace photonrun {

// What ends photonrun before its job began.
struct Interrupted {
  int status;
};

class Vigil {
 public:
  using Clock = std::chrono::steady_clock;

  Vigil(const Signals& signals, int lifeline) : signals_(signals), lifeline_(lifeline) {}

  // True: one of them has something. Throws Interrupted.
  bool wait(std::vector<pollfd>& entries, Clock::time_point until) const;
  bool wait_for(int fd, short events, Clock::time_point until) const;

 private:
  const Signals& signals_;
  int lifeline_;
};

// "photonrun: text" as one line of standard error.
void say_line(std::string_view text);

}  // namespace photonrun
