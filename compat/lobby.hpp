// What peers have announced and nobody has met yet. The context gives each announcement away once;
// photon_probe_ledger() only looks, so what it saw is kept here for the next who waits for it.
//
//   announced -- see() --> kept -- meet() --> taken
//       \--------- meet() ------------------/
//
// Invariant: what is kept is older than what the context still has from that rank.
// Owner: the session. Any thread; its lock is held over looks, and never over a wait.
#pragma once

#include <photon/photon.h>

#include <mutex>
#include <vector>

namespace photon::classic {

class Session;

class Lobby {
 public:
  // Waits for one that matches and takes it. Else an error: who could announce it is gone, or the
  // context is.
  ph_status meet(Session& session, const ph_match& match, ph_buffer& buffer);

  // One look, which takes nothing: PH_OK, PH_AGAIN, or an error as in meet().
  ph_status see(ph_context* context, const ph_match& match, ph_buffer& buffer);

 private:
  // A copy of the oldest that matches; `takes`: and it is not here any more.
  bool find(const ph_match& match, ph_buffer& buffer, bool takes) noexcept;

  std::mutex mutex_;
  std::vector<ph_buffer> kept_;  // under it, oldest first
};

}  // namespace photon::classic
