// The right to run the user's code of one service: of all threads of a lane one has it at a time,
// and what becomes due meanwhile is not forgotten.
//
//   free -- try_take() --> running -- finish() --> free
//                          running -- try_take() of another --> more
//                          more -- take_more() --> running
//
// Every function is called under the lane's lock; between try_take() and finish() the runner gives
// the lock up. Argument: who finds the right taken has put what is due where the runner looks, and
// sets `more` before it gives the lock up. The runner asks take_more() and then calls finish()
// without giving the lock up between them: so either it sees `more`, or the other one finds the
// right free. What one runner did happens before what the next one does, for the next one takes the
// lock after the last one has given it up.
// Owner: a Services, for each of its services.
#pragma once

#include <cstdint>

#include "sync/policy.hpp"

namespace photon::sync {

template <class Policy>
class RunRight {
 public:
  // False: another call has it, and will look again.
  bool try_take() noexcept {
    const bool is_taken = is_.get() == kFree;
    is_.set(is_taken ? kRunning : kMore);
    return is_taken;
  }
  // By who has it: whether more has become due since this was asked last.
  bool take_more() noexcept {
    const bool is_more = is_.get() == kMore;
    if (is_more) is_.set(kRunning);
    return is_more;
  }
  void finish() noexcept { is_.set(kFree); }
  bool is_free() const noexcept { return is_.get() == kFree; }

 private:
  static constexpr std::uint64_t kFree = 0;
  static constexpr std::uint64_t kRunning = 1;
  static constexpr std::uint64_t kMore = 2;

  typename Policy::template Cell<std::uint64_t> is_;
};

}  // namespace photon::sync
