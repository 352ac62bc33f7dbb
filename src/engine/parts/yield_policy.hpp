// When empty probes give the core away, where more ranks than cores mean that somebody needs it.
// To spin a little first pays when the answer comes from a rank that runs, and is lost time when it
// comes from one that waits for this core. Whether a yield switched cannot be seen (the scheduler
// may come back at once although others wait), so it is learnt from how waits end:
//
//   long -- two waits in a row outlast it --> short -- each 16th wait tries --> long
//
// Owner: an Engine, under the lane's lock.
#pragma once

namespace photon::engine {

class YieldPolicy {
 public:
  explicit YieldPolicy(bool oversubscribed = false) noexcept : oversubscribed_(oversubscribed) {}
  // Crowded: ranks have cores, but not their progress threads; a peer's may wait for this one.
  // Whoever answers soon runs, so the patience stays long.
  void set_oversubscribed(bool is, bool is_crowded = false) noexcept {
    oversubscribed_ = is || is_crowded;
    least_ = is ? kShort : kLong;
    if (!is) patience_ = kLong;
  }

  // Turns without news that teach nothing.
  static constexpr unsigned kShort = 8;

  bool due(unsigned empty_turns) const noexcept {
    return oversubscribed_ ? empty_turns > patience_ : (empty_turns & (kSeldom - 1)) == 0;
  }
  // News came after so many empty turns (more than kShort).
  [[gnu::always_inline]] void ended(unsigned empty_turns) noexcept {
    if (patience_ == kShort) {
      if (++waits_ % kWaitsBetweenTries == 0) patience_ = kLong;
    } else if (empty_turns <= kLong) {
      outlasted_ = 0;
    } else if (++outlasted_ >= 2) {
      patience_ = least_;
    }
  }

 private:
  static constexpr unsigned kLong = 64;      // above a round trip between far cores
  static constexpr unsigned kSeldom = 4096;  // not oversubscribed: a host may be busy
  static constexpr unsigned kWaitsBetweenTries = 16;

  bool oversubscribed_;
  unsigned patience_ = kLong;
  unsigned least_ = kShort;
  unsigned outlasted_ = 0;
  unsigned waits_ = 0;
};

}  // namespace photon::engine
