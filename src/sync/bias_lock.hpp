// The lane's lock: free for the thread that always comes, correct for all others.
//
// One thread owns the bias and enters with two plain stores and two loads; no locked instruction,
// which would wait for stores still on their way to the peer (measured on a prototype: a lock and a
// fence per message cost two thirds of the rate). Another thread revokes the bias with a process
// barrier; then everybody takes the mutex word, until one thread has come alone often enough to get
// the bias.
//
//   biased(T) -- T enters: busy=1, owner is still T --> held by T --> biased(T)
//   biased(T) -- U: takes the word, owner=0, process barrier, waits for busy=0 --> shared
//   shared    -- U was alone for `patience` turns --> biased(U)
//                (patience grows eightfold, 8 grants at most)
//   biased(T), shared -- who is inside by the word ends the bias --> shared, for good
//   biased(T) -- V visits: takes the word, owner=0, process barrier, waits for busy=0 --> held by V
//             -- V leaves: owner=T --> biased(T)
//             -- V only tried, and busy is 1 --> owner=T, V was never inside
//
// The word, by which callers (lock()) and visitors come:
//
//   free -- anybody --> taken -- a visitor leaves, or a caller and no visitor waits --> free
//                       taken -- a caller leaves, and a visitor waits --> kept
//   kept -- a visitor --> taken
//
// Argument: T's store of busy and second load of owner against U's store of owner and load of
// busy is Dekker's pattern; U's process barrier makes it safe without a fence in T. Each grant has
// a busy word of its own, so a thread that read a stale owner cannot disturb the next one's. [bias]
// A visit is for who comes seldom and to every lane (unregistering): it costs T nothing but the
// wait. The owner it puts back is read by T with acquire, so that T sees what V did. T itself may
// find the word free with its bias restored: it goes on by the word, for nobody else enters biased.
//
// Turns: a thread that comes again and again finds the word free each time, for it is there first.
// So a caller who leaves keeps the word for the visitors, if one of them has said that it waits. It
// is not kept for nobody: a visitor waits until it has the word, and takes back what it said only
// under the word, where the next holder sees it. So it waits for the holder who has not heard of
// it, and for one more caller at most. The owner with his bias needs no such turn: he is stopped.
// Who only tries stands back for all who wait.
// Owner: one per lane. Threads are named by a token, unique among living threads, a multiple of 16.
#pragma once

#include <cstdint>

#include "sync/hint.hpp"
#include "sync/policy.hpp"

namespace photon::sync {

template <class Policy>
class BiasLock {
 public:
  using Token = std::uint64_t;
  enum class Held : std::uint64_t {};  // how the lock was taken; unlock() wants it back
  static constexpr Held kBiased{0};    // by try_biased()

  // Without a process barrier there is no bias: every entry takes the word.
  explicit BiasLock(bool may_bias, Token first = 0) noexcept
      : owner_(may_bias ? first : 0), may_bias_(may_bias) {}

  Held lock(Token me) noexcept {
    if (try_biased(me)) return kBiased;
    return lock_slow(me);
  }

  // Enter for once, in the place of whoever has the bias and gets it back.
  Held lock_visiting(Token me) noexcept { return lock_visiting(me, Policy::pause); }
  // The same; between two looks it calls wait(number of the look).
  template <class Wait>
  Held lock_visiting(Token me, Wait wait) noexcept {
    if (!try_word(kFree)) {
      visitors_waiting_.fetch_add(1, std::memory_order_relaxed);
      for (unsigned looks = 0; !try_word(kFree) && !try_word(kKept); ++looks) wait(looks);
      visitors_waiting_.fetch_add(std::uint64_t(-1), std::memory_order_relaxed);
    }
    const Token owner = owner_.load(std::memory_order_relaxed);
    if (owner != 0 && (owner & ~kGrantMask) != me) revoke(owner, wait);
    return Held{owner | kVisit};
  }
  // The same, unless somebody is inside or waits. False: nothing was taken.
  bool try_visiting(Token me, Held& held) noexcept {
    // A hint: an owner who is inside need not be stopped, which is dear, and does not hear of us.
    const Token seen = owner_.load(std::memory_order_relaxed);
    if (seen != 0 && !has_left(seen)) return false;
    if (caller_waits_.get() != 0 || has_waiting_visitor() || !try_word(kFree)) return false;
    const Token owner = owner_.load(std::memory_order_relaxed);
    held = Held{owner | kVisit};
    if (owner == 0 || (owner & ~kGrantMask) == me) return true;
    stop_entries();
    if (has_left(owner)) return true;
    unlock(held);
    return false;
  }

  // Enter if we own the bias; false: nothing was taken. Inline whatever the compiler thinks: it
  // stands in every probe.
  [[gnu::always_inline]] bool try_biased(Token me) noexcept {
    const Token owner = owner_.load(std::memory_order_relaxed);
    if ((owner & ~kGrantMask) != me) [[unlikely]]
      return false;
    auto& busy = busy_[owner & kGrantMask];
    busy.store(1, std::memory_order_relaxed);
    Policy::light_barrier();  // pairs with the revoker's process barrier [bias]
    if (owner_.load(std::memory_order_acquire) == owner) [[likely]]  // [visit]
      return true;
    busy.store(0, std::memory_order_release);  // [bias]
    return false;
  }

  void unlock(Held held) noexcept {
    const auto how = static_cast<std::uint64_t>(held);
    if (is_biased(held)) return unlock_biased();
    if (held != kByWord)
      owner_.store(may_bias_ ? how & ~kVisit : 0, std::memory_order_release);  // [visit]
    const bool is_kept = held == kByWord && has_waiting_visitor();
    word_.store(is_kept ? kKept : kFree, std::memory_order_release);  // [word]
  }
  // From now on everybody takes the word. Caller is inside, but not by try_biased().
  void end_bias() noexcept {
    may_bias_ = false;
    owner_.store(0, std::memory_order_relaxed);
  }
  // Who is inside by the word keeps it for one of them as it leaves.
  bool has_waiting_visitor() const noexcept {
    return visitors_waiting_.load(std::memory_order_relaxed) != 0;
  }
  static constexpr bool is_biased(Held held) noexcept { return held == kBiased; }
  // After try_biased(). While somebody is inside by a grant there is no later one, so which it was
  // need not be kept in a register all the way.
  void unlock_biased() noexcept {
    busy_[latest_.get()].store(0, std::memory_order_release);  // [bias]
  }

 private:
  static constexpr Token kGrantMask = 7;
  static constexpr unsigned kGrants = 8;
  static constexpr Held kByWord{~std::uint64_t{0}};
  static constexpr Token kVisit = 8;  // beside the owner to be put back: a bit that no token has
  static constexpr std::uint64_t kFree = 0, kTaken = 1, kKept = 2;  // the word

  Held lock_slow(Token me) noexcept {
    if (!try_word(kFree)) {
      caller_waits_.set(1);
      for (unsigned looks = 0; !try_word(kFree); ++looks) Policy::pause(looks);
      caller_waits_.set(0);
    }
    // The word is ours: nobody else changes owner_.
    const Token owner = owner_.load(std::memory_order_relaxed);
    if ((owner & ~kGrantMask) == me) return kByWord;  // a visitor came between; the bias is ours
    if (owner != 0) revoke(owner, Policy::pause);
    if (last_ != me) {
      last_ = me;
      alone_ = 0;
    } else if (may_bias_ && ++alone_ >= patience_ && grants_ + 1 < kGrants) {
      grant(me);
    }
    return kByWord;
  }

  bool try_word(std::uint64_t from) noexcept {
    return word_.load(std::memory_order_relaxed) == from &&
           word_.compare_exchange(from, kTaken, std::memory_order_acquire,  // [word]
                                  std::memory_order_relaxed);
  }
  template <class Wait>
  void revoke(Token owner, Wait wait) noexcept {
    stop_entries();
    for (unsigned spins = 0; !has_left(owner); ++spins) wait(spins);
  }
  void stop_entries() noexcept {
    owner_.store(0, std::memory_order_relaxed);
    Policy::process_barrier();  // pairs with the owner's light barrier [bias]
  }
  bool has_left(Token owner) const noexcept {
    return busy_[owner & kGrantMask].load(std::memory_order_acquire) == 0;  // [bias]
  }

  // We hold the word and go on holding it for this turn; the bias is for the next one. A biased
  // entry before our unlock is ourselves only, and a thread does not enter twice.
  void grant(Token me) noexcept {
    alone_ = 0;
    patience_ *= 8;
    latest_.set(++grants_);
    owner_.store(me | grants_, std::memory_order_relaxed);
  }

  alignas(64) typename Policy::template Atomic<Token> owner_;
  typename Policy::template Atomic<std::uint64_t> busy_[kGrants];
  typename Policy::template Cell<std::uint64_t> latest_;  // grant: of who is inside by one
  alignas(64) typename Policy::template Atomic<std::uint64_t> word_;
  typename Policy::template Atomic<std::uint64_t> visitors_waiting_;  // less under the word
  Hint<Policy, std::uint64_t> caller_waits_;  // perhaps, of several: for who only tries
  Token last_ = 0;                            // this and below: under the word
  std::uint64_t alone_ = 0;
  std::uint64_t patience_ = 64;
  std::uint64_t grants_ = 0;
  bool may_bias_ = true;
};

}  // namespace photon::sync
