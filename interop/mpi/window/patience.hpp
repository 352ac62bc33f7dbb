// How a rank waits for another one's word, and what it does meanwhile (docs/mpi.md, "Waiting").
//
//   looks: at once -- nothing --> spin -- some microseconds --> serve both engines, yield the core
//          -- 100 us --> asleep on the doorbell, 1 ms at most at a time; serves between sleeps
//          the rank waited for has ended --> lost
//
// Owner: the stack of one wait. Threads: that one.
#pragma once

#include <cstdint>

#include "interop/mpi/window/board.hpp"
#include "interop/mpi/window/job.hpp"

namespace photon::mpi {

class Patience {
 public:
  // `doorbell` is rung when what is waited for may have come.
  Patience(Job& job, Doorbell& doorbell) noexcept
      : job_(job), doorbell_(doorbell), before_(doorbell.rings()) {}

  // After a look that found nothing; then the caller looks again. False: that rank, or the other
  // that it acts through, is dead or has left, so that nothing will come.
  bool pause(ph_rank whom, ph_rank through = PH_ANY_RANK) noexcept;
  // It is the waiter's turn: the wait lasts for a millisecond or longer; or for some microseconds,
  // by a waiter that is awake on a core of its own, which takes what it is handed at once.
  bool is_long() const noexcept {
    return (looks_ >= kLooksAwake && looks_ < 2 * kLooksAwake && !job_.is_crowded()) ||
           (sleeps_ > 0 && waited_ns() >= kLongNs);
  }

 private:
  static constexpr std::int64_t kLongNs = 1'000'000;
  static constexpr std::uint32_t kLooksAwake = 64;

  std::int64_t waited_ns() const noexcept;
  bool is_there(ph_rank whom) noexcept;

  Job& job_;
  Doorbell& doorbell_;
  std::uint32_t before_;
  std::uint32_t looks_ = 0;
  std::uint32_t sleeps_ = 0;
  std::int64_t since_ns_ = 0;
};

}  // namespace photon::mpi
