// Waiting before the job has begun, in the launcher process: for descriptors, a time, and all the
// while for signals and the supervisor's end.
// Invariant: whoever waits here can be interrupted. Owner: the launcher process.
#pragma once

#include <poll.h>

#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

#include "output.hpp"
#include "signals.hpp"
#include "stdin_commands.hpp"

namespace photonrun {

// What ends photonrun before its job began.
struct Interrupted {
  int status;
};

class StartupWait {
 public:
  using Clock = std::chrono::steady_clock;

  // `output`: written meanwhile. `orders`: from the photonrun that started this one; null: nobody
  // gives any.
  StartupWait(const Signals& signals, int lifeline, Output& output, StdinCommands* orders = nullptr)
      : signals_(signals), lifeline_(lifeline), output_(output), commands_(orders) {}

  // True: one of them has something. False: something else had, or the time is up. Throws
  // Interrupted, and what StdinCommands::handle() throws.
  bool wait(std::vector<pollfd>& entries, Clock::time_point until) const;
  bool wait_for(int fd, short events, Clock::time_point until) const;
  Output& output() const { return output_; }
  const Signals& signals() const { return signals_; }
  // End of file there means that the supervisor is gone.
  int lifeline() const { return lifeline_; }
  void say(std::string_view text) const { output_.say(text); }

 private:
  const Signals& signals_;
  int lifeline_;
  Output& output_;
  StdinCommands* commands_;
};

// Of --timeout, if it was given.
using TimeLimit = std::optional<StartupWait::Clock::time_point>;

// Who is looked after while this photonrun waits for other hosts.
class Attendant {
 public:
  virtual ~Attendant() = default;
  Attendant() = default;
  Attendant(const Attendant&) = delete;
  Attendant& operator=(const Attendant&) = delete;

  virtual void want(std::vector<pollfd>& entries) = 0;
  // Throws std::runtime_error: why there is nothing more to wait for.
  virtual void handle(const std::vector<pollfd>& entries) = 0;
  // `seat`: from 1.
  virtual void joined(unsigned seat) = 0;
};

}  // namespace photonrun
