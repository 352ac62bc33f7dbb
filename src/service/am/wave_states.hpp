// What one rank of a quiesce does, as a pure machine (docs/active-messages.md, "Quiescence").
//
//   idle -- begin() --> gathers -- gathered(): all children, own work done --> waits (root:
//   decides) waits -- down(): again --> gathers          gathers, root -- else --> gathers (the
//   next wave) waits -- down(): over --> idle              gathers, root -- the same twice, sent =
//   handled --> idle any -- break_off() --> broken, for good
//
// Invariants: of each child at most one `up` is here, of the wave that we are in, or of the first
// one of the next quiesce; a `down` comes only to who has said `up`, once. So a message at any
// other time is malformed. What still comes when it is broken is checked all the same.
// Owner: Waves; a test.
#pragma once

#include <cstdint>

#include "service/am/am_tree.hpp"

namespace photon::service::am {

struct WaveSums {
  std::uint64_t sent = 0;
  std::uint64_t handled = 0;

  friend bool operator==(const WaveSums&, const WaveSums&) = default;
};

// Which quiesce of the lane, and which of its waves.
struct WaveStamp {
  std::uint32_t quiesce = 0;
  std::uint32_t wave = 0;

  friend bool operator==(const WaveStamp&, const WaveStamp&) = default;
};
constexpr std::uint64_t encode(const WaveStamp& stamp) noexcept {
  return stamp.quiesce | std::uint64_t{stamp.wave} << 32;
}
constexpr WaveStamp to_stamp(std::uint64_t word) noexcept {
  return {static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32)};
}

class WaveStates {
 public:
  enum class State : std::uint8_t { idle, gathers, waits, broken };
  // What is to be said: `up` to the parent, the others to all children.
  enum class Say : std::uint8_t { nothing, up, again, over };
  struct Next {
    Say say = Say::nothing;
    WaveStamp stamp;  // of the wave that has ended here
    WaveSums sums;    // of `up`
  };

  // `waves_wanted`: how many waves one behind the other have to bring the same. Two is right; a
  // test shows that one is not.
  explicit WaveStates(const AmTree& tree, std::uint32_t waves_wanted = 2) noexcept
      : tree_(tree), waves_wanted_(waves_wanted) {}

  State state() const noexcept { return state_; }
  const AmTree& tree() const noexcept { return tree_; }
  WaveStamp stamp() const noexcept { return stamp_; }

  // False: another one is under way, or it is broken.
  bool begin() noexcept {
    if (state_ != State::idle) return false;
    state_ = State::gathers;
    return true;
  }

  // False: malformed.
  bool up(Rank from, WaveStamp stamp, WaveSums sums) noexcept {
    const auto place = tree_.place_of(from);
    if (!place || *place == AmTree::kParent || stamp != stamp_ || (there_ & bit(*place)) != 0)
      return false;
    there_ |= bit(*place);
    sums_ = {sums_.sent + sums.sent, sums_.handled + sums.handled};
    return true;
  }

  bool is_all_there() const noexcept {
    return state_ == State::gathers && there_ == bit(tree_.children_count()) - 1;
  }

  // All are there, and nothing of our own is under way.
  Next gathered(WaveSums own) noexcept {
    const WaveSums sums{sums_.sent + own.sent, sums_.handled + own.handled};
    if (!tree_.is_root()) {
      state_ = State::waits;
      is_down_due_ = true;
      return {Say::up, stamp_, sums};
    }
    alike_ = alike_ != 0 && sums == last_ ? alike_ + 1 : 1;
    last_ = sums;
    return turned(sums.sent == sums.handled && alike_ >= waves_wanted_);
  }

  // False: malformed. `next` says nothing where it is broken.
  bool down(Rank from, WaveStamp stamp, bool is_over, Next& next) noexcept {
    next = {};
    if (tree_.is_root() || from != tree_.at(AmTree::kParent) || !is_down_due_ || stamp != stamp_)
      return false;
    is_down_due_ = false;
    if (state_ == State::waits) next = turned(is_over);
    return true;
  }

  // Whether that rank may say that it is broken. One neighbour may have come one quiesce further.
  bool may_break(Rank from, std::uint32_t quiesce) const noexcept {
    return tree_.place_of(from).has_value() && quiesce - stamp_.quiesce + 1 <= 2;
  }
  // False: it was broken before.
  bool break_off() noexcept {
    if (state_ == State::broken) return false;
    state_ = State::broken;
    return true;
  }

 private:
  static constexpr std::uint32_t bit(std::size_t place) noexcept { return 1u << place; }

  // A wave has gone back to where it came from.
  Next turned(bool is_over) noexcept {
    const Next next{is_over ? Say::over : Say::again, stamp_, {}};
    state_ = is_over ? State::idle : State::gathers;
    stamp_ =
        is_over ? WaveStamp{stamp_.quiesce + 1, 0} : WaveStamp{stamp_.quiesce, stamp_.wave + 1};
    if (is_over) alike_ = 0;
    there_ = 0;
    sums_ = {};
    return next;
  }

  AmTree tree_;
  State state_ = State::idle;
  bool is_down_due_ = false;
  std::uint32_t waves_wanted_;
  std::uint32_t there_ = 0;  // a bit for each child whose sums are in sums_
  std::uint32_t alike_ = 0;  // of the root: so many waves have brought last_
  WaveStamp stamp_;
  WaveSums sums_;
  WaveSums last_;
};

}  // namespace photon::service::am
