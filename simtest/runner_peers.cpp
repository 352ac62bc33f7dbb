// Peers that a rank contacts without an id, and what it hears of them.
#include "simtest/runner_job.hpp"

namespace photon::simtest {

bool Runner::expect_state(ph_rank rank, ph_rank peer, bool is_right, ph_contact_state state) {
  if (!is_right)
    oracle_.report("status", "rank " + std::to_string(rank) + ": rank " + std::to_string(peer) +
                                 ", which it has contacted, is in state " + std::to_string(state));
  return is_right;
}

// The link is made when the call returns, and what is known of the peer says so.
void Runner::contact(ph_rank rank, ph_rank peer) {
  const ph_status status = ph_contact(context(rank), peer);
  oracle_.note(here(rank), "contact of " + std::to_string(peer) + " = " + std::to_string(status));
  if (!went_through(rank, "contact", peer, status)) return;
  ph_contact_state state = PH_PEER_UNKNOWN;
  if (!expect(rank, "peer_state", ph_peer_state(context(rank), peer, &state))) return;
  const bool is_made = state == PH_PEER_CONNECTING || state == PH_PEER_CONNECTED;
  if (expect_state(rank, peer, is_made, state) && seats_[rank].lane == 0)
    seats_[rank].met.push_back(peer);
}

// Everything has come. A rank that was contacted has answered, or its end is known, although
// nothing may ever have been sent to it.
void Runner::check_contacts(ph_rank rank) {
  for (const ph_rank peer : seats_[rank].met) {
    ph_contact_state state = PH_PEER_UNKNOWN;
    if (!expect(rank, "peer_state", ph_peer_state(world_.context(rank), peer, &state))) return;
    // Who is to be cut off by the next record is so only when there is one.
    const bool may_stand = !oracle_.is_dead(peer) && !leaves_early(program_, peer);
    const bool is_right = (may_stand && state == PH_PEER_CONNECTED) ||
                          (oracle_.is_dead(peer) && state == PH_PEER_DEAD) ||
                          (oracle_.is_lost(rank, peer) && state == PH_PEER_DEAD) ||
                          (leaves_early(program_, peer) && state == PH_PEER_DEPARTED);
    if (!expect_state(rank, peer, is_right, state)) return;
  }
}

}  // namespace photon::simtest
