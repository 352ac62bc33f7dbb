// A lock between processes that names its holders, so that one whose holder has died can be taken
// over (docs/mpi.md, "The lock"). No call here waits: a waiter has more to do than to wait.
//
//   owner: 0 -- own() --> named -- leave(), leave_for() --> 0
//          named, its rank is dead -- take_over() --> named: the caller
//   slot:  0 -- share() --> 1 -- unshare() --> 0;  1, its rank is dead -- clear() by the owner -->
//   0 next:  0 -- claim() --> named -- that rank is in: yield() --> 0
//          named, its rank is dead -- unclaim() --> 0
//
// A rank holds the lock for itself when own() or take_over() has said yes and blocking_slot() has
// said that there is none. It shares the lock when share() has said yes.
// Argument that an owner and one who shares are never both in: each writes its own word, then there
// is a full fence, then it reads the other's; so one of the two sees the other. [lock-dekker]
// Argument that who is in sees what was done before: giving back is a release of the word that the
// next one reads with acquire. [lock-turn] A dead holder has released nothing: who takes over sees
// what the dead one's processor had written when it ended, which is all.
// Argument that take_over() meets no newer holder: a rank's number is never used again, so a word
// that names a dead rank is written by nobody but who takes it over.
// Invariants: only rank r writes r + 1 to `owner`, and 1 to slot r. Who is dead is told by others.
// Owner: the words are the target's, in memory that all of its host have mapped; a RankLock is a
// rank's view of them. Threads: one at a time of each rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sync/policy.hpp"

namespace photon::mpi {

inline constexpr std::uint32_t kNobody = ~std::uint32_t{0};

template <class Policy>
struct alignas(64) LockWords {
  typename Policy::template Atomic<std::uint64_t> owner;  // 0, or a rank + 1
  typename Policy::template Atomic<std::uint64_t> next;   // 0, or the rank + 1 of who is in next
};

template <class Policy>
struct alignas(64) LockSlot {
  typename Policy::template Atomic<std::uint64_t> shares;  // 1: that rank does
};

template <class Policy>
class RankLock {
 public:
  using Words = LockWords<Policy>;
  using Slots = std::span<LockSlot<Policy>>;

  // One slot for each rank that can ask.
  RankLock(Words& words, Slots slots, std::uint32_t self) noexcept
      : words_(&words), slots_(slots), self_(self) {}

  // Whoever shares the lock may still be in.
  bool own() noexcept {
    __builtin_prefetch(words_, 1);  // what is read first is on the line that is changed then
    if (is_anothers_turn()) return false;
    std::uint64_t free = 0;
    if (!words_->owner.compare_exchange(free, name(self_), std::memory_order_acq_rel,
                                        std::memory_order_relaxed))  // [lock-turn]
      return false;
    Policy::fence_behind_change();  // [lock-dekker]
    return true;
  }
  // The caller takes the place of an owner that is dead. False says that it is not the owner any
  // more.
  bool take_over(std::uint32_t dead) noexcept {
    std::uint64_t expected = name(dead);
    if (!words_->owner.compare_exchange(expected, name(self_), std::memory_order_acq_rel,
                                        std::memory_order_relaxed))  // [lock-turn]
      return false;
    Policy::fence_behind_change();  // [lock-dekker]
    return true;
  }
  // The owner asks for a rank for which it has to wait; kNobody says that it is in.
  std::uint32_t blocking_slot() const noexcept {
    for (std::size_t rank = 0; rank < slots_.size(); ++rank)
      if (rank != self_ && slots_[rank].shares.load(std::memory_order_acquire) != 0)  // [lock-turn]
        return static_cast<std::uint32_t>(rank);
    return kNobody;
  }
  // The owner clears the slot of a rank that is dead.
  void clear(std::uint32_t dead) noexcept {
    slots_[dead].shares.store(0, std::memory_order_relaxed);
  }
  void leave() noexcept { words_->owner.store(0, std::memory_order_release); }  // [lock-turn]
  // The same by somebody else in the owner's name: the owner may be dead, and its place taken.
  // False says so.
  bool leave_for() noexcept {
    std::uint64_t expected = name(self_);
    return words_->owner.compare_exchange(expected, 0, std::memory_order_release,
                                          std::memory_order_relaxed);  // [lock-turn]
  }

  bool share() noexcept {
    if (is_anothers_turn()) return false;
    static_cast<void>(slots_[self_].shares.exchange(1, std::memory_order_relaxed));
    Policy::fence_behind_change();  // [lock-dekker]
    if (words_->owner.load(std::memory_order_acquire) == 0) [[likely]]
      return true;  // [lock-turn]
    unshare();
    return false;
  }
  void unshare() noexcept {
    slots_[self_].shares.store(0, std::memory_order_release);  // [lock-turn]
  }

  // Whose end would help a waiter: the owner; kNobody: there is none now.
  std::uint32_t owner() const noexcept {
    return rank_of(words_->owner.load(std::memory_order_acquire));  // [lock-turn]
  }

  // After a long wait: nobody else gets in before the caller has, but who looked just before.
  bool claim() noexcept {
    std::uint64_t free = 0;
    return words_->next.compare_exchange(free, name(self_), std::memory_order_relaxed,
                                         std::memory_order_relaxed) ||
           free == name(self_);
  }
  // The caller is in, or does not wait any more.
  void yield() noexcept { unclaim(self_); }
  // The caller takes back the claim of a rank that is dead.
  void unclaim(std::uint32_t rank) noexcept {
    std::uint64_t expected = name(rank);
    words_->next.compare_exchange(expected, 0, std::memory_order_relaxed,
                                  std::memory_order_relaxed);
  }
  std::uint32_t claimer() const noexcept {
    return rank_of(words_->next.load(std::memory_order_relaxed));
  }

 private:
  static constexpr std::uint64_t name(std::uint32_t rank) noexcept {
    return std::uint64_t{rank} + 1;
  }
  static constexpr std::uint32_t rank_of(std::uint64_t word) noexcept {
    return word == 0 ? kNobody : static_cast<std::uint32_t>(word - 1);
  }
  bool is_anothers_turn() const noexcept {
    const std::uint64_t next = words_->next.load(std::memory_order_relaxed);
    return next != 0 && next != name(self_);
  }

  Words* words_;
  Slots slots_;
  std::uint32_t self_;
};

}  // namespace photon::mpi
