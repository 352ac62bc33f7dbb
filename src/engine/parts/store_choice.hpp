// How the bytes of a put come to memory that another core reads: by ordinary stores, by
// non-temporal ones (sync/streamed_copy.hpp), or through the bulk ring, where both sides copy. The
// best depends on the processor, on the size, on whether the two cores share a cache, and on what
// the reader does with the bytes; and where the cores are changes while programs run. What the
// writer's own copy takes says little of it: ordinary stores wait in a buffer while their lines
// come, and non-temporal ones leave the bytes far from the reader. So the measure is what the
// program gets: the time from one copy of a size class to the next copy to that peer. It holds the
// copy, the wait for the reader, and in an exchange the reading, too.
//
//   used -- so many copies later, or at once after stir() --> the best: kTurn copies are timed
//   the best, or another -- kTurn --> the next: kTurn copies --> ... --> used, the fastest
//     |                                        \-- kBad times far slower: it has lost
//     \-- the best is far slower than known, kBad times: that is what it takes now
//
// One class is looked at after the other. The others are tried often while one is close, and seldom
// where all are far worse: what changes then is where the cores are, and stir() tells of that.
// Owner: a Peer's Stores, under the lane's lock.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>

namespace photon::engine {

enum class Way : std::uint8_t { plain, streamed, ring };

class StoreChoice {
 public:
  static constexpr std::uint64_t kLeastBytes = 2048;
  static constexpr unsigned kClasses = 12;  // of powers of two; the last is all that is larger

  // Among the first so many ways.
  explicit StoreChoice(unsigned ways_count) noexcept
      : ways_count_(static_cast<std::uint8_t>(ways_count)) {}

  // How the next copy goes, which belongs to an operation of `whole_bytes` (kLeastBytes or more)
  // and moves `bytes` of it. `clock()`: ticks that go forward; it is called in few copies.
  template <class Clock>
  Way next(std::uint64_t whole_bytes, std::uint64_t bytes, Clock clock) noexcept {
    const unsigned index = index_of(whole_bytes);
    Class& like = classes_[index];
    if (!is_timing_ && index != looked_at_ && like.left > 1) {
      --like.left;
      return like.best;
    }
    return look(index, std::max<std::uint64_t>(bytes, 1), clock());
  }

  // Something has changed: every class looks at all ways now.
  void stir() noexcept {
    for (Class& one : classes_) one.left = 1;
    looked_at_ = kNone;
  }

  Way best(std::uint64_t whole_bytes) const noexcept {
    return classes_[index_of(whole_bytes)].best;
  }

 private:
  static constexpr std::uint8_t kNone = 0xff;
  static constexpr unsigned kWays = 3;
  static constexpr unsigned kTurn = 4;
  static constexpr unsigned kBad = 3;
  static constexpr unsigned kPatience = 16;  // copies of others that a look waits for its own
  static constexpr unsigned kFirst = 4;      // copies before the first look
  static constexpr unsigned kClose = 64;     // copies between two looks: some differ by a tenth
  static constexpr unsigned kApart = 256;    // by half
  static constexpr unsigned kFarApart = 1024;
  static constexpr std::uint64_t kUnit = std::uint64_t{1} << 16;
  static constexpr std::uint64_t kOutlier = 4;  // times what is known: a nap, or another world
  static constexpr unsigned kLeastLog2 = 11;

  struct Class {
    std::uint32_t known = 0;  // ticks that kUnit bytes cost by `best`; 0: unknown
    std::uint16_t left = kFirst;
    Way best = Way::plain;
  };
  // A look that is under way, in the order best, then the others.
  struct Look {
    std::array<std::uint64_t, kWays> cost{};  // of kUnit bytes; the sum of the good copies of
    unsigned at = 0;                          // this one, and the mean of those before
    unsigned good = 0;
    unsigned bad = 0;
  };

  static unsigned index_of(std::uint64_t bytes) noexcept {
    const auto log2 = static_cast<unsigned>(std::bit_width(bytes | 1)) - 1;
    return std::clamp(log2, kLeastLog2, kLeastLog2 + kClasses - 1) - kLeastLog2;
  }
  // The n-th way of a look: the best, then all others.
  static Way way_at(const Class& like, unsigned n) noexcept {
    const auto best = static_cast<unsigned>(like.best);
    return static_cast<Way>(n == 0 ? best : n <= best ? n - 1 : n);
  }

  // The copy before ends its time now, and this one may begin one.
  Way look(unsigned index, std::uint64_t bytes, std::uint64_t now) noexcept {
    if (is_timing_ && looked_at_ != kNone)
      took(classes_[looked_at_], std::max<std::uint64_t>((now - begun_) * kUnit / bytes_, 1));
    is_timing_ = false;
    Class& like = classes_[index];
    if (index != looked_at_) {
      if (like.left > 1) --like.left;
      const bool is_due = like.left == 1;
      if (!is_due || (looked_at_ != kNone && ++strange_ < kPatience)) return like.best;
      looked_at_ = static_cast<std::uint8_t>(index);
      look_ = {};
    }
    strange_ = 0;
    is_timing_ = true;
    bytes_ = bytes;
    begun_ = now;
    return way_at(like, look_.at);
  }

  void took(Class& like, std::uint64_t cost) noexcept {
    const std::uint64_t most = kOutlier * like.known;
    const bool is_bad = like.known != 0 && cost > most;
    if (is_bad && ++look_.bad < kBad) return;
    if (is_bad && look_.at != 0) return tried(like, most);
    if (is_bad) look_ = {}, like.known = 0;  // all that was known is another world's
    look_.cost[look_.at] += cost;
    if (++look_.good < kTurn) return;
    const std::uint64_t mean = look_.cost[look_.at] / kTurn;
    if (look_.at == 0)
      like.known = static_cast<std::uint32_t>(std::min<std::uint64_t>(mean, ~std::uint32_t{0}));
    tried(like, mean);
  }

  void tried(Class& like, std::uint64_t cost) noexcept {
    look_.cost[look_.at] = cost;
    look_.good = look_.bad = 0;
    if (++look_.at < ways_count_) return;
    // A tenth is what chance makes of two turns of equal ways.
    unsigned best = 0;
    for (unsigned i = 1; i < ways_count_; ++i)
      if (look_.cost[i] < look_.cost[best] - (best == 0 ? look_.cost[0] / 10 : 0)) best = i;
    const std::uint64_t known = look_.cost[best];
    std::uint64_t next = ~std::uint64_t{0};
    for (unsigned i = 0; i < ways_count_; ++i)
      if (i != best) next = std::min(next, look_.cost[i]);
    like.best = way_at(like, best);
    like.known = static_cast<std::uint32_t>(std::min<std::uint64_t>(known, ~std::uint32_t{0}));
    like.left = next < known + known / 10 ? kClose : next < known + known / 2 ? kApart : kFarApart;
    looked_at_ = kNone;
  }

  std::array<Class, kClasses> classes_{};
  Look look_;
  std::uint64_t bytes_ = 0;  // of the copy whose time runs
  std::uint64_t begun_ = 0;
  std::uint32_t strange_ = 0;  // copies of other classes since the last of the one looked at
  std::uint8_t looked_at_ = kNone;
  std::uint8_t ways_count_;
  bool is_timing_ = false;
};

}  // namespace photon::engine
