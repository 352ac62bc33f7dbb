// Which stores copy to memory that another core reads: ordinary ones, or non-temporal ones
// (sync/streamed_copy.hpp). Which are better depends on the processor, on the size, on whether the
// two cores share a cache, and on what the reader does with the bytes; and where the cores are
// changes while programs run. What the writer's own copy takes says little of it: ordinary stores
// wait in a buffer while their lines come, and non-temporal ones leave the bytes far from the
// reader. So the measure is what the program gets: the time from one copy of a size class to the
// next copy to that peer. It holds the copy, the wait for the reader, and in an exchange the
// reading, too.
//
//   used -- so many copies later, or at once after stir() --> ours: kTurn copies are timed
//   ours -- kTurn --> other: kTurn copies by the other stores --> used, the faster
//     |                 \-- kBad times far slower --> used, as before
//     \-- far slower than known, kBad times: that is what it takes now
//
// One class is looked at after the other. The other stores are tried often while both are close,
// and seldom where they are far worse: what changes then is where the cores are, and stir() tells
// of that.
// Owner: a Peer's Stores, under the lane's lock.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>

namespace photon::engine {

enum class Store : std::uint8_t { plain, streamed };

class StoreChoice {
 public:
  static constexpr std::uint64_t kLeastBytes = 2048;
  static constexpr unsigned kClasses = 12;  // of powers of two; the last is all that is larger

  // How the next copy goes, which belongs to an operation of `whole_bytes` (kLeastBytes or more)
  // and moves `bytes` of it. `clock()`: ticks that go forward; it is called in few copies.
  template <class Clock>
  Store next(std::uint64_t whole_bytes, std::uint64_t bytes, Clock clock) noexcept {
    const unsigned index = index_of(whole_bytes);
    Class& like = classes_[index];
    if (!is_timing_ && index != looked_at_ && like.left > 1) {
      --like.left;
      return like.best;
    }
    return look(index, std::max<std::uint64_t>(bytes, 1), clock());
  }

  // Something has changed: every class looks at both ways now.
  void stir() noexcept {
    for (Class& one : classes_) one.left = 1;
    looked_at_ = kNone;
  }

  Store best(std::uint64_t whole_bytes) const noexcept {
    return classes_[index_of(whole_bytes)].best;
  }

 private:
  static constexpr unsigned kNone = ~0U;
  static constexpr unsigned kTurn = 4;
  static constexpr unsigned kBad = 3;
  static constexpr unsigned kPatience = 16;  // copies of others that a look waits for its own
  static constexpr unsigned kFirst = 4;      // copies before the first look
  static constexpr unsigned kClose = 64;     // copies between two looks: the two differ by a tenth
  static constexpr unsigned kApart = 256;    // by half
  static constexpr unsigned kFarApart = 1024;
  static constexpr std::uint64_t kUnit = std::uint64_t{1} << 16;
  static constexpr std::uint64_t kOutlier = 4;  // times what is known: a nap, or another world
  static constexpr unsigned kLeastLog2 = 11;

  struct Class {
    std::uint64_t known = 0;  // what a copy by `best` costs; 0: unknown
    unsigned left = kFirst;
    Store best = Store::plain;
  };
  struct Turn {
    std::uint64_t cost = 0;  // ticks for kUnit bytes, the sum of `good` copies
    unsigned good = 0;
    unsigned bad = 0;
    bool is_other = false;
    std::uint64_t mean() const noexcept { return cost / good; }
  };

  static unsigned index_of(std::uint64_t bytes) noexcept {
    const auto log2 = static_cast<unsigned>(std::bit_width(bytes | 1)) - 1;
    return std::clamp(log2, kLeastLog2, kLeastLog2 + kClasses - 1) - kLeastLog2;
  }
  static Store other_than(Store one) noexcept {
    return one == Store::plain ? Store::streamed : Store::plain;
  }

  // The copy before ends its time now, and this one may begin one.
  Store look(unsigned index, std::uint64_t bytes, std::uint64_t now) noexcept {
    if (is_timing_ && looked_at_ != kNone)
      took(classes_[looked_at_], std::max<std::uint64_t>((now - begun_) * kUnit / bytes_, 1));
    is_timing_ = false;
    Class& like = classes_[index];
    if (index != looked_at_) {
      if (like.left > 1) --like.left;
      const bool is_due = like.left == 1;
      if (!is_due || (looked_at_ != kNone && ++strange_ < kPatience)) return like.best;
      looked_at_ = index;
      turn_ = {};
    }
    strange_ = 0;
    is_timing_ = true;
    bytes_ = bytes;
    begun_ = now;
    return turn_.is_other ? other_than(like.best) : like.best;
  }

  void took(Class& like, std::uint64_t cost) noexcept {
    const bool is_bad = like.known != 0 && cost > kOutlier * like.known;
    if (is_bad && ++turn_.bad < kBad) return;
    if (is_bad && turn_.is_other) return decide(like, kOutlier * like.known);
    if (is_bad) turn_ = {}, like.known = 0;  // all that was known is another world's
    turn_.cost += cost;
    if (++turn_.good < kTurn) return;
    if (turn_.is_other) return decide(like, turn_.mean());
    like.known = turn_.mean();
    turn_ = {};
    turn_.is_other = true;
  }

  void decide(Class& like, std::uint64_t other) noexcept {
    // A tenth is what chance makes of two turns of equal ways.
    if (other < like.known - like.known / 10) {
      like.best = other_than(like.best);
      std::swap(like.known, other);
    }
    like.left = other < like.known + like.known / 10  ? kClose
                : other < like.known + like.known / 2 ? kApart
                                                      : kFarApart;
    looked_at_ = kNone;
  }

  std::array<Class, kClasses> classes_{};
  Turn turn_;
  unsigned looked_at_ = kNone;
  unsigned strange_ = 0;  // copies of other classes since the last of the one that is looked at
  bool is_timing_ = false;
  std::uint64_t bytes_ = 0;  // of the copy whose time runs
  std::uint64_t begun_ = 0;
};

}  // namespace photon::engine
