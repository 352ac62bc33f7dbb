// The descriptor (an eventfd) by which this rank's own sleep is ended, and whether such a sleep has
// been announced: whoever makes news then ends it, for who sleeps has not seen them.
//
//   awake -- announce() --> announced: ring_if_announced() rings -- retract() --> awake
//
// Invariant: once rung, the descriptor stays readable until drain().
// Owner: the transport. Threads: ring(), drain() and fd() any; the others under the transport's
// lock.
#pragma once

#include "base/unique_fd.hpp"

namespace photon::transport::carried {

class Wakeup {
 public:
  // False, and errno: there is no descriptor to be had.
  bool open() noexcept;
  int fd() const noexcept { return event_.get(); }

  void ring() noexcept;
  void drain() noexcept;

  void announce() noexcept { is_announced_ = true; }
  void retract() noexcept { is_announced_ = false; }
  bool is_announced() const noexcept { return is_announced_; }
  void ring_if_announced() noexcept {
    if (is_announced_) ring();
  }

 private:
  base::UniqueFd event_;
  bool is_announced_ = false;
};

}  // namespace photon::transport::carried
