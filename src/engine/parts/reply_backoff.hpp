// How long to leave a peer's line alone after asking it something.
//
// Who spins on the line that the answer will be written to takes it away from its writer just while
// it is being written: the write must first get it back, and the reader must fetch it once more.
// So the prober of an exchange looks once after posting (what is there is there), then keeps away
// until the answer is due, which it learns from each exchange:
//
//   found at the first look after the pause    a little shorter next time
//   found just after, by spinning              longer: we were in the way
//   found much later                           longer by more, if nothing was found in time before
//   no answer, or the posts were a stream      no exchange: no pause
//
// Where answers take now this long, now that, any pause is too long for some and helps few; and
// where no pause, however long, was ever the one after which the answer was there, something else
// decides when it is met:
//
//   pausing -- in time and much later by turns, or never in time --> resting -- a while --> pausing
//   (no pause while resting; a rest soon after another is twice as long)
//
// Owner: a Peer, under the lane's lock.
#pragma once

#include <algorithm>
#include <cstdint>

namespace photon::engine {

class ReplyBackoff {
 public:
  static constexpr std::uint64_t kTurnsOfSilence = 256;  // of this rank: it cannot see the clock
  // Turns of an empty loop: about so many cycles. A small answer of a far core takes no longer; of
  // longer ones the time varies so much that a pause of most of it is often too long.
  static constexpr unsigned kMaxPause = 1200;

  std::uint64_t asked() const noexcept { return tail_; }

  // The first probe since lines up to `tail` were posted, in turn `now`; the peer's last record was
  // met in turn `last_hit`. The pause to make if the first look finds nothing: none after a long
  // silence, when neither side is as quick as it was, and what was learnt does not count.
  unsigned ask(std::uint64_t tail, std::uint64_t now, std::uint64_t last_hit) noexcept {
    if (now - last_hit >= kTurnsOfSilence) {
      pass(tail);
      return 0;
    }
    if (rest_ == 0 && paused_)
      learn(tail - tail_ <= kLinesOfOne, first_ - turn_);
    else if (rest_ != 0)
      --rest_;
    paused_ = true;
    tail_ = tail;
    turn_ = now;
    first_ = now - 1;
    return rest_ == 0 ? pause_ : 0;
  }
  // Records were met in turn `now`, those before in turn `last_hit`: only the first after a
  // question tells how long its answer took.
  void met(std::uint64_t last_hit, std::uint64_t now) noexcept {
    if (last_hit < turn_) first_ = now;
  }
  // Instead of ask(), where other peers want attention: no pause, and nothing is learnt.
  void pass(std::uint64_t tail) noexcept {
    tail_ = tail;
    paused_ = false;
  }

 private:
  static constexpr std::uint64_t kLinesOfOne = 4;
  static constexpr std::uint64_t kJustMissed = 4;  // turns; being in the way costs far cores more
  static constexpr std::uint64_t kSoon = 64;
  static constexpr unsigned kShorter = 2;
  static constexpr unsigned kLonger = 12;
  static constexpr unsigned kMuchLonger = 32;
  static constexpr unsigned kDoubt = 8;  // answers in time that outweigh one that came much later
  static constexpr unsigned kDespair = 4 * kDoubt;
  static constexpr unsigned kShortRest = 64;  // questions
  static constexpr unsigned kLongRest = 65536;
  static constexpr unsigned kMostRaises = 125;  // in a row; enough to get to kMaxPause

  // `in_vain`: turns spent looking after the pause; huge if no answer came.
  void learn(bool one_question, std::uint64_t in_vain) noexcept {
    ++learnt_;
    if (!one_question || in_vain > kSoon) {
      pause_ = raises_ = 0;
    } else if (in_vain == 0) {
      pause_ -= std::min(pause_, kShorter + pause_ / 512);
      doubts_ -= std::min(doubts_, 1U);
      in_time_ = true;
      raises_ = 0;
    } else if (const bool missed = in_vain <= kJustMissed + pause_ / 64; missed || !in_time_) {
      pause_ = std::min(pause_ + (missed ? kLonger + pause_ / 128 : kMuchLonger), kMaxPause);
      if (++raises_ >= kMostRaises) rest();
    } else {
      in_time_ = false;
      doubts_ += kDoubt;
      if (doubts_ >= kDespair) rest();
    }
  }

  void rest() noexcept {
    next_rest_ = learnt_ < 4 * kDespair ? std::min(2 * next_rest_, kLongRest) : kShortRest;
    rest_ = next_rest_;
    learnt_ = pause_ = doubts_ = raises_ = 0;
  }

  std::uint64_t tail_ = 0;
  std::uint64_t turn_ = 0;
  std::uint64_t first_ = 0;  // turn of the first answer; before turn_: none yet
  unsigned pause_ = 0;
  unsigned doubts_ = 0;
  unsigned raises_ = 0;
  unsigned learnt_ = 0;  // questions since the last rest
  unsigned rest_ = 0;    // questions still to rest
  unsigned next_rest_ = kShortRest;
  bool paused_ = false;   // at the last question
  bool in_time_ = false;  // an answer, since one came much later
};

}  // namespace photon::engine
