// Taking and giving back the locks of a target's block.
#include <cstdio>

#include "interop/mpi/window/asking.hpp"
#include "interop/mpi/window/locking.hpp"

namespace photon::mpi {

namespace {

// A rank of another host holds by the thread of the target, so the target's end ends that, too.
ph_rank keeper_of(Window& window, const Target& target, std::uint32_t holder) noexcept {
  const bool is_near = holder >= window.size() || window.target(holder).board.has_value();
  return is_near ? PH_ANY_RANK : target.rank;
}

// Who has a word of a target's lock: a member, or the target's own thread.
ph_rank rank_of(Window& window, const Target& target, std::uint32_t holder) noexcept {
  if (holder == kNobody) return PH_ANY_RANK;
  return holder < window.size() ? window.target(holder).rank : target.rank;
}

// A looker writes nothing: whoever is in is not disturbed.
bool is_free(const Lock& lock) noexcept { return lock.owner() == kNobody; }

// What a dead rank has sent to the target may still come there: puts, sums, even that it gives the
// lock back. Who takes its place waits for that.
void drain(Window& window, Target& target, std::uint32_t dead) noexcept {
  Request request{.ask = Ask::drain};
  request.which = dead;
  if (window.server() != nullptr && dead < window.size())
    static_cast<void>(ask(window, target, request, {}, {}));
}

// The owner's word keeps new ones out.
void await_sharers(Window& window, Lock& lock, Target& target) noexcept {
  std::uint32_t sharer = lock.blocking_slot();
  if (sharer == kNobody) [[likely]]
    return;
  Patience patience(window.job(), target.board->doorbell());
  for (; sharer != kNobody; sharer = lock.blocking_slot()) {
    if (patience.pause(rank_of(window, target, sharer), keeper_of(window, target, sharer)))
      continue;
    warn_of(window, target, sharer);
    drain(window, target, sharer);
    lock.clear(sharer);
  }
}

}  // namespace

void own_lock(Window& window, Lock lock, Target& target) noexcept {
  if (!lock.own()) {
    Patience patience(window.job(), target.board->doorbell());
    bool has_claimed = false;
    for (;;) {
      const std::uint32_t owner = lock.owner();
      const std::uint32_t claimer = lock.claimer();
      if (owner == kNobody && lock.own()) break;
      const std::uint32_t whom = owner != kNobody ? owner : claimer;
      if (!patience.pause(rank_of(window, target, whom), keeper_of(window, target, whom))) {
        if (whom != owner) {
          lock.unclaim(claimer);
        } else if (lock.take_over(owner)) {
          warn_of(window, target, owner);
          drain(window, target, owner);
          break;
        }
      }
      if (!has_claimed && patience.is_long()) has_claimed = lock.claim();
    }
    if (has_claimed) lock.yield();
  }
  await_sharers(window, lock, target);
}

void share_lock(Window& window, Lock lock, Target& target) noexcept {
  if (lock.share()) [[likely]]
    return;
  Patience patience(window.job(), target.board->doorbell());
  bool has_claimed = false;
  for (;;) {
    const std::uint32_t owner = lock.owner();
    const std::uint32_t claimer = lock.claimer();
    if (is_free(lock) && lock.share()) break;
    const std::uint32_t whom = owner != kNobody ? owner : claimer;
    if (!patience.pause(rank_of(window, target, whom), keeper_of(window, target, whom))) {
      if (whom != owner) {
        lock.unclaim(claimer);
      } else if (lock.take_over(owner)) {
        warn_of(window, target, owner);
        drain(window, target, owner);
        lock.leave();
      }
    }
    if (!has_claimed && patience.is_long()) has_claimed = lock.claim();
  }
  if (has_claimed) lock.yield();
}

void leave_lock(Window& window, Lock lock, Target& target) noexcept {
  lock.leave();
  call_waiters(window, target);
}

void unshare_lock(Window& window, Lock lock, Target& target) noexcept {
  lock.unshare();
  call_waiters(window, target);
}

// It is the thread of the target, which waits elsewhere than at the doorbell.
void call_watcher(Window& window, Target& target) noexcept {
  Server* const server = window.server();
  if (server == nullptr) return;
  if (window.is_own(target))
    server->look();
  else
    server->asker().poke(target.rank);
}

void warn_of(Window& window, const Target& target, std::uint32_t dead) noexcept {
  std::fprintf(stderr,
               "photon: rank %u of MPI: rank %u has ended while it had a lock of rank %u's window; "
               "the lock is taken from it, and what it wrote may be half done\n",
               window.job().rank(), rank_of(window, target, dead), target.rank);
}

}  // namespace photon::mpi
