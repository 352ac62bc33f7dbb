// Many threads push, one takes all: the inbox of a thread, with its wake-up in the same word.
//
//   empty -- push --> newest -- push --> newest -- take(): all of it, newest first --> empty
//   empty -- try_sleep() --> asleep -- push --> newest, and its pusher wakes the owner
//                            asleep -- rise() --> empty
//
// Things have names, numbers above 1 such as addresses, and lie in memory with room for a link,
// which `Links` finds: set(name, link), get(name). The link is plain memory.
//
// Argument: a pusher writes its thing and its link before the compare-and-exchange that publishes
// both, a release [pushed]. The owner's exchange acquires it, and with it all pushes below: each is
// a read-modify-write of the same word, so they form one release sequence. [pushed]
// No wake-up is lost, and no fence is needed: all of this is one word, whose changes have one
// order. Either a push comes before try_sleep(), which then fails, or behind it, and then the
// pusher finds `asleep`. Exactly one pusher does, for it takes the mark away.
// No ABA: a push links to whatever is the newest thing, and that it is so when the exchange
// succeeds is all it needs. No gap: a pusher that stops has published nothing of its own.
// Owner: the thread that takes. Threads: push() any; all else the owner.
#pragma once

#include <cstdint>

#include "sync/policy.hpp"

namespace photon::sync {

template <class Policy, class Links>
class MpscQueue {
 public:
  using Name = std::uint64_t;
  static constexpr Name kNone = 0;

  explicit MpscQueue(Links links = {}) noexcept : links_(links) {}

  // True: the owner sleeps, or is about to, and the caller wakes it.
  bool push(Name one) noexcept { return push_chain(one, one); }
  // Several, linked from the newest to the oldest.
  bool push_chain(Name newest, Name oldest) noexcept {
    Name found = kNone;  // not read first: an empty one, as it often is, so costs one fetch
    do {
      links_.set(oldest, found == kAsleep ? kNone : found);
    } while (!newest_.compare_exchange(found, newest, std::memory_order_release,  // [pushed]
                                       std::memory_order_relaxed));
    return found == kAsleep;
  }

  bool is_empty() const noexcept { return newest_.load(std::memory_order_relaxed) <= kAsleep; }
  // All that was pushed, linked from the newest to the oldest; kNone: nothing.
  Name take() noexcept {
    if (is_empty()) return kNone;
    return newest_.exchange(kNone, std::memory_order_acquire);  // [pushed]
  }
  // Turns a chain round, and so gives the oldest of it.
  Name turned(Name newest) noexcept {
    Name oldest = kNone;
    while (newest != kNone) {
      const Name next = links_.get(newest);
      links_.set(newest, oldest);
      oldest = newest;
      newest = next;
    }
    return oldest;
  }

  // False: something was pushed. Else whoever pushes next wakes the owner, once.
  bool try_sleep() noexcept {
    Name found = kNone;
    return newest_.compare_exchange(found, kAsleep, std::memory_order_relaxed,
                                    std::memory_order_relaxed);
  }
  // The owner is awake, for whatever reason.
  void rise() noexcept {
    Name found = kAsleep;
    static_cast<void>(newest_.compare_exchange(found, kNone, std::memory_order_relaxed,
                                               std::memory_order_relaxed));
  }

 private:
  static constexpr Name kAsleep = 1;

  typename Policy::template Atomic<Name> newest_;
  [[no_unique_address]] Links links_;
};

}  // namespace photon::sync
