// What is known of a peer, and which memory is held: what we have mapped of peers, and what they
// have of ours, which is given to nobody else before all have let go.
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

// The bootstrap may know of the end of a rank that was never met here.
ph_contact_state PeerView::state_of(Rank rank) const {
  const Peer* const peer = engine_.peers_[rank].get();
  if (peer != nullptr) return contact_state_of(peer->state);
  return engine_.boot_->has_left(rank) ? PH_PEER_DEPARTED : PH_PEER_UNKNOWN;
}

// A link that is gone, with its peer, does not come back; its table went with it.
void PeerView::let_go(const Mappings::One& one) noexcept {
  const Peer* const peer = engine_.peers_[one.rank].get();
  if (peer != nullptr && peer->link != nullptr) peer->link->tx_holds->let_go(one.entry);
}

void PeerView::unmap_all() noexcept {
  engine_.mappings_.for_each([this](const Mappings::One& one) { let_go(one); });
  engine_.mappings_.clear();
}

// Of this rank's own memory, by the links of this lane. A peer that is lost may still hold it, as
// long as its process is not known to have ended; then its link stands.
bool PeerView::is_held(std::uint64_t slot) const noexcept {
  if (engine_.memory_->regions.is_kept(slot)) return true;
  for (const Peer* peer : engine_.contacted_)
    if (peer->link != nullptr && peer->link->rx_holds != nullptr &&
        peer->link->rx_holds->names(slot))
      return true;
  return false;
}

bool PeerView::has_freed() const noexcept { return engine_.memory_->has_freed(); }

void PeerView::give_back_freed() noexcept {
  if (engine_.is_lane_ || !engine_.memory_->has_freed()) return;
  const std::uint64_t slots = engine_.config_.max_regions;
  engine_.memory_->give_back(
      [&](const ph_region& region) { return !is_held(region.key & (slots - 1)); });
}

// The link goes, but the process at its other end may live and use what it has mapped: what it
// holds now stays so until we leave.
void PeerView::keep_held(const Peer& peer) noexcept {
  if (engine_.is_lane_ || peer.link->rx_holds == nullptr) return;
  peer.link->rx_holds->for_each(
      [this](std::uint64_t slot) { engine_.memory_->regions.keep(slot); });
}

}  // namespace photon::engine
