// Loans that a runner gives back without the lane's lock: he counts them, and whoever holds the
// lane next takes the count and gives their room back, in the order in which they were lent.
//
//   lent -- returned(), by the runner --> returned -- take_returned(), in the lane --> given back
//
// Argument: the runner has read a loan before he counts it, a release [lent]; the lane's acquire of
// the count [lent] comes before the room is given back, by a release of the credit; the owner of
// the room acquires the credit before he stores there again. So what he stores is not read.
// One runner at a time; from one to the next it goes by the lane's lock (sync/run_right.hpp), and
// so the count needs no read-modify-write operation. take_returned() is called under the lock.
// Owner: who lends.
#pragma once

#include <cstdint>

#include "sync/policy.hpp"

namespace photon::sync {

template <class Policy>
class Lent {
 public:
  // By the runner: one more, the next in the order of lending, was read to its end.
  void returned() noexcept {
    returned_.store(returned_.load(std::memory_order_relaxed) + 1,
                    std::memory_order_release);  // [lent]
  }
  // In the lane: how many since this was asked last.
  std::uint64_t take_returned() noexcept {
    const std::uint64_t all = returned_.load(std::memory_order_acquire);  // [lent]
    const std::uint64_t more = all - taken_;
    taken_ = all;
    return more;
  }

 private:
  typename Policy::template Atomic<std::uint64_t> returned_;
  std::uint64_t taken_ = 0;
};

}  // namespace photon::sync
