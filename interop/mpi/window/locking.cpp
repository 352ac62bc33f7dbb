// Taking and giving back the locks of a target's block.
#include <cstdio>

#include "interop/mpi/window/window.hpp"

namespace photon::mpi {

namespace {

// A rank of another host holds by the thread of the target, so the target's end ends that, too.
ph_rank keeper_of(Window& window, const Target& target, std::uint32_t holder) noexcept {
  const bool is_near = holder >= window.size() || window.target(holder).board.has_value();
  return is_near ? PH_ANY_RANK : target.rank;
}

// A looker writes nothing: whoever is in is not disturbed.
bool is_free(const Lock& lock) noexcept { return lock.owner() == kNobody; }

}  // namespace

bool Window::own_lock(Lock lock, Target& target) noexcept {
  bool is_from_dead = false;
  if (!lock.own()) {
    Patience patience(job_, target.board->doorbell());
    bool has_claimed = false;
    for (;;) {
      const std::uint32_t owner = lock.owner();
      const std::uint32_t claimer = lock.claimer();
      if (owner == kNobody && lock.own()) break;
      const std::uint32_t whom = owner != kNobody ? owner : claimer;
      if (!patience.pause(rank_of(target, whom), keeper_of(*this, target, whom))) {
        if (whom != owner) {
          lock.unclaim(claimer);
        } else if (lock.take_over(owner)) {
          warn_of(target, owner);
          is_from_dead = true;
          break;
        }
      }
      if (!has_claimed && patience.is_long()) has_claimed = lock.claim();
    }
    if (has_claimed) lock.yield();
  }
  await_sharers(lock, target);
  return is_from_dead;
}

// The owner's word keeps new ones out.
void Window::await_sharers(Lock& lock, Target& target) noexcept {
  std::uint32_t sharer = lock.blocking_slot();
  if (sharer == kNobody) [[likely]]
    return;
  Patience patience(job_, target.board->doorbell());
  for (; sharer != kNobody; sharer = lock.blocking_slot()) {
    if (patience.pause(rank_of(target, sharer), keeper_of(*this, target, sharer))) continue;
    warn_of(target, sharer);
    lock.clear(sharer);
  }
}

void Window::share_lock(Lock lock, Target& target) noexcept {
  if (lock.share()) [[likely]]
    return;
  Patience patience(job_, target.board->doorbell());
  bool has_claimed = false;
  for (;;) {
    const std::uint32_t owner = lock.owner();
    const std::uint32_t claimer = lock.claimer();
    if (is_free(lock) && lock.share()) break;
    const std::uint32_t whom = owner != kNobody ? owner : claimer;
    if (!patience.pause(rank_of(target, whom), keeper_of(*this, target, whom))) {
      if (whom != owner) {
        lock.unclaim(claimer);
      } else if (lock.take_over(owner)) {
        warn_of(target, owner);
        lock.leave();
      }
    }
    if (!has_claimed && patience.is_long()) has_claimed = lock.claim();
  }
  if (has_claimed) lock.yield();
}

void Window::leave_lock(Lock lock, Target& target) noexcept {
  lock.leave();
  call(target);
}

void Window::unshare_lock(Lock lock, Target& target) noexcept {
  lock.unshare();
  call(target);
}

// Whoever waits for a lock of that block looks again.
void Window::call(Target& target) noexcept {
  if (!target.board->doorbell().ring() || server_ == nullptr) [[likely]]
    return;
  if (&target == targets_[own_].get())
    server_->look();
  else
    server_->poke(target.rank);
}

void Window::warn_of(const Target& target, std::uint32_t dead) const noexcept {
  std::fprintf(stderr,
               "photon: rank %u of MPI: rank %u has ended while it had a lock of rank %u's window; "
               "the lock is taken from it, and what it wrote may be half done\n",
               job_.rank(), rank_of(target, dead), target.rank);
}

}  // namespace photon::mpi
