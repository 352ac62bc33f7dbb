#include "engine/peer_view.hpp"

#include "engine/engine.hpp"

namespace photon::engine {

ph_contact_state contact_state_of(Peer::State state) noexcept {
  switch (state) {
    case Peer::State::connecting: return PH_PEER_CONNECTING;
    case Peer::State::connected: return PH_PEER_CONNECTED;
    case Peer::State::departed: return PH_PEER_DEPARTED;
    case Peer::State::dead: return PH_PEER_DEAD;
  }
  return PH_PEER_UNKNOWN;
}

const char* text_of(ph_contact_state state) noexcept {
  switch (state) {
    case PH_PEER_UNKNOWN: return "unknown";
    case PH_PEER_CONNECTING: return "connecting";
    case PH_PEER_CONNECTED: return "connected";
    case PH_PEER_DEPARTED: return "departed";
    case PH_PEER_DEAD: return "dead";
  }
  return "unknown";
}

// A peer that only waits to be met costs nobody a record: its link is made, and that is all. From
// then on the transport tells of its end.
ph_status PeerView::contact(Rank rank) {
  Peer* peer = nullptr;
  return engine_.contact(rank, peer);
}

ph_status PeerView::state(Rank rank, ph_contact_state& state) {
  if (rank >= engine_.size_) {
    Peer* none = nullptr;
    return engine_.contact(rank, none);
  }
  state = state_of(rank);
  return PH_OK;
}

// The bootstrap may know of the end of a rank that was never met here.
ph_contact_state PeerView::state_of(Rank rank) const {
  const Peer* const peer = engine_.peers_[rank].get();
  if (peer != nullptr) return contact_state_of(peer->state);
  return engine_.boot_->has_left(rank) ? PH_PEER_DEPARTED : PH_PEER_UNKNOWN;
}

}  // namespace photon::engine
