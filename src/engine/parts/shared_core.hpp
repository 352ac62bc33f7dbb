// Whether the core on which the progress thread spins is wanted by somebody else: by the caller who
// computes, or by threads that the engine knows nothing of.
//
// A turn of the thread that finds nothing takes microseconds. One that took as long as a slice of
// the scheduler's was interrupted: others want the core, and to spin for news keeps them from their
// work and the thread from its own for the rest of their slice. Then it sleeps at once, for what
// wakes it comes before them. Now and then it spins again, to see whether that is still so:
//
//   own -- a turn took kAway --> shared -- kRemembered later --> own
//
// Owner: the ProgressThread, one thread.
#pragma once

#include <chrono>

namespace photon::engine {

class SharedCore {
 public:
  using Time = std::chrono::steady_clock::time_point;

  static constexpr std::chrono::microseconds kAway{50};
  static constexpr std::chrono::seconds kRemembered{1};

  // A turn that found nothing, and the yield behind it.
  void spun(Time begin, Time end) noexcept {
    if (end - begin >= kAway) shared_until_ = end + kRemembered;
  }
  bool is_shared(Time now) const noexcept { return now < shared_until_; }

 private:
  Time shared_until_ = Time::min();
};

}  // namespace photon::engine
