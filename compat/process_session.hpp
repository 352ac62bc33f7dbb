// Where the session of a process stands: the one global that the classic API demands, since its
// calls name no context. Tests give each of their threads one of its own and so have a job of
// many ranks in one process.
//
//   empty -- photon_init() --> taken -- photon_finalize() --> empty -- photon_init() --> ...
//
// Invariant: a session that was ever in one lives until clear(), so that a call which came too
// late meets a finalized context and not freed memory.
// Owner: the process (for ever: threads may still call while it exits), or a test.
#pragma once

#include <mutex>

#include "sync/policy.hpp"
#include "sync/published.hpp"

namespace photon::classic {

class Session;

struct ProcessSession {
  sync::Published<sync::HardwarePolicy, Session> running;
  std::mutex changing;         // held by photon_init() and photon_finalize()
  Session* retired = nullptr;  // under it: finalized ones, linked
  std::once_flag emptiness;    // that it is empty was said

  // A program that ends without photon_finalize(): first what it has left queued goes to its peers,
  // while its memory is there and in half of finalize_timeout_ms; the session stays, since the
  // destructors of the program's globals may use it, and end it. Then, after them, peers are told.
  // A session that another thread is changing is left alone.
  void settle() noexcept;
  void leave() noexcept;

  // The running session, which there is, becomes a retired one. Caller holds `changing`.
  void retire() noexcept;

  // Frees all sessions. No call on this one may be in progress or follow. The process's own is
  // never cleared.
  void clear() noexcept;
};

// Of the calling thread: the process's unless it is bound elsewhere. Known when the library is
// loaded, so one load finds it.
extern thread_local constinit ProcessSession* current_process [[gnu::tls_model("initial-exec")]];

// A call that needs a session finds none: PHOTON_ERROR_NOINIT. The first one says so on stderr, for
// a program that does not look at the status may probe for ever.
[[gnu::cold, gnu::noinline]] int without_session(const char* call) noexcept;

// The process's own is settled, and later left, when the process ends by exit() or by returning
// from main().
void settle_at_exit() noexcept;

// From now on the calling thread's calls are those of the rank in this one; null: the process's.
void bind(ProcessSession* process) noexcept;

}  // namespace photon::classic
