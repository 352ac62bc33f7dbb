// The control block of a member of a window (docs/mpi.md, "The control block"): words in its memory
// by which the members of its host lock, count and wake each other.
//
//   Head | window slots | accumulate slots | pairs          the last three: one a member, and
//                                                           one accumulate slot more
//
// The owner's thread that serves other hosts takes the accumulate lock as if it were one member
// more, for two threads cannot have one slot.
//
// Invariants: the memory was zero at first, and zero is every word's first value. Who writes which
// word stands in the table of docs/mpi.md. Owner: the member whose memory it is; a Board is another
// process's view of it. Threads: as RankLock says of the locks; the counts as their callers say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "interop/mpi/lock/lock_policy.hpp"
#include "interop/mpi/lock/rank_lock.hpp"
#include "sync/policy.hpp"
#include "sync/shared_count.hpp"
#include "sync/shared_doorbell.hpp"

namespace photon::mpi {

using Policy = LockPolicy;
using Lock = RankLock<Policy>;
using Doorbell = sync::SharedDoorbell<Policy>;
using SharedCount = sync::SharedCount<Policy>;

// These words stand between the owner of the block and one other member.
struct Pair {
  SharedCount posts;      // of that member, to the owner as an origin
  SharedCount completes;  // of that member as an origin, to the owner as a target
};

class Board {
 public:
  static constexpr std::size_t kRounds = 32;  // of a barrier: the members' number has so many bits

  static constexpr std::size_t bytes_of(std::uint32_t members) noexcept {
    return sizeof(Head) + (2 * std::size_t{members} + 1) * sizeof(LockSlot<Policy>) +
           members * sizeof(Pair);
  }

  // `memory` has bytes_of(members), at a multiple of 64. `self` is the member that looks at it.
  Board(void* memory, std::uint32_t members, std::uint32_t self) noexcept
      : head_(static_cast<Head*>(memory)),
        slots_(reinterpret_cast<LockSlot<Policy>*>(head_ + 1)),
        pairs_(reinterpret_cast<Pair*>(slots_ + 2 * std::size_t{members} + 1)),
        members_(members),
        self_(self) {}

  // The same block, as that member looks at it: for who acts in its name.
  Board seen_by(std::uint32_t member) const noexcept {
    Board other = *this;
    other.self_ = member;
    return other;
  }

  Lock window_lock() const noexcept { return {head_->window, {slots_, members_}, self_}; }
  Lock sum_lock() const noexcept { return sum_lock_of(self_); }
  Lock sum_lock_of_server() const noexcept { return sum_lock_of(members_); }
  Doorbell& doorbell() const noexcept { return head_->doorbell; }
  SharedCount& round(std::size_t number) const noexcept { return head_->rounds[number]; }
  Pair& pair(std::uint32_t member) const noexcept { return pairs_[member]; }

 private:
  Lock sum_lock_of(std::uint32_t who) const noexcept {
    return {head_->sum, {slots_ + members_, std::size_t{members_} + 1}, who};
  }

  struct Head {
    LockWords<Policy> window;
    LockWords<Policy> sum;
    Doorbell doorbell;
    SharedCount rounds[kRounds];
  };

  Head* head_;
  LockSlot<Policy>* slots_;
  Pair* pairs_;
  std::uint32_t members_;
  std::uint32_t self_;
};

}  // namespace photon::mpi
