// The descriptor (an eventfd) by which this rank's own sleep is ended, and whether such a sleep has
// been armed: whoever makes news then ends it, for who sleeps has not seen them.
//
//   awake -- arm() --> armed: ring_if_armed() rings -- disarm() --> awake
//
// Invariant: once rung, the descriptor stays readable until drain().
// Owner: the transport. Threads: ring(), drain() and fd() any; the others under the transport's
// lock.
#pragma once

#include "base/unique_fd.hpp"

namespace photon::transport::network {

class Wakeup {
 public:
  // False, and errno: there is no descriptor to be had.
  bool open() noexcept;
  int fd() const noexcept { return event_.get(); }

  void ring() noexcept;
  void drain() noexcept;

  void arm() noexcept { is_armed_ = true; }
  void disarm() noexcept { is_armed_ = false; }
  bool is_armed() const noexcept { return is_armed_; }
  void ring_if_armed() noexcept {
    if (is_armed_) ring();
  }

 private:
  base::UniqueFd event_;
  bool is_armed_ = false;
};

}  // namespace photon::transport::network
