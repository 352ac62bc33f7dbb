// How who can wait for long waits between two looks at a word that nobody rings: as a spin loop at
// first, then asleep, ever longer up to a millisecond. It is the pace of the looks and orders
// nothing.
// Invariant: a nap lasts at most an eighth of the naps before it, and 50 us. So whoever ends the
// wait and then has to wait in turn loses little beside the time it took itself. Owner: the caller,
// who counts the looks; any thread.
#pragma once

#include <chrono>

namespace photon::sync {

class PatientWait {
 public:
  void operator()(unsigned looks) const noexcept;

  // Zero: not asleep.
  static std::chrono::microseconds nap_after(unsigned looks) noexcept;

 private:
  static constexpr unsigned kLooksAwake = 1000;
  static constexpr unsigned kNapsAlike = 8;  // before they last twice as long
  static constexpr std::chrono::microseconds kShortest{50};
  static constexpr std::chrono::microseconds kLongest{1000};
};

}  // namespace photon::sync
