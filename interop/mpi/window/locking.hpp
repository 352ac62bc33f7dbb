// Taking and giving back the locks of a target's block. A lock is had when own_lock() or
// share_lock() returns; only a member that is not there any more can keep it out, and that one's
// place is taken.
// Owner: none. Threads: any, each call under the target's guard; those of the own block also by the
// thread that serves it.
#pragma once

#include "interop/mpi/window/window.hpp"

namespace photon::mpi {

void own_lock(Window& window, Lock lock, Target& target) noexcept;
void share_lock(Window& window, Lock lock, Target& target) noexcept;
void leave_lock(Window& window, Lock lock, Target& target) noexcept;
void unshare_lock(Window& window, Lock lock, Target& target) noexcept;

// Whoever waits for a lock of that block looks again.
void call_watcher(Window& window, Target& target) noexcept;
inline void call_waiters(Window& window, Target& target) noexcept {
  if (target.board->doorbell().ring()) [[unlikely]]
    call_watcher(window, target);
}
// One line on stderr, of a holder whose lock is taken.
void warn_of(Window& window, const Target& target, std::uint32_t dead) noexcept;

}  // namespace photon::mpi
