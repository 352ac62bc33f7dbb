// Waiting before the job has begun, in the launcher process: for descriptors, a time, and all the
// while for signals and the guardian's end.
// Invariant: whoever waits here can be interrupted. Owner: the launcher process.
#pragma once

#include <poll.h>

#include <chrono>
#include <string_view>
#include <vector>

#include "orders.hpp"
#include "signals.hpp"

namespace photonrun {

// What ends photonrun before its job began.
struct Interrupted {
  int status;
};

class Vigil {
 public:
  using Clock = std::chrono::steady_clock;

  // `orders`: from the photonrun that started this one; null: nobody gives any.
  Vigil(const Signals& signals, int lifeline, Orders* orders = nullptr)
      : signals_(signals), lifeline_(lifeline), orders_(orders) {}

  // True: one of them has something. Throws Interrupted, and what Orders::handle() throws.
  bool wait(std::vector<pollfd>& entries, Clock::time_point until) const;
  bool wait_for(int fd, short events, Clock::time_point until) const;

 private:
  const Signals& signals_;
  int lifeline_;
  Orders* orders_;
};

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

// "photonrun: text" as one line of standard error.
void say_line(std::string_view text);

}  // namespace photonrun
