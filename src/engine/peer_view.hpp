// What a caller may do about its peers as such: meet one without sending anything, and ask what is
// known of one. Makes no progress.
// Invariant: ph_path_to() and ph_peer_state() tell the same state.
// Owner: the call, in the lane of the engine.
#pragma once

#include "engine/peer.hpp"

namespace photon::engine {

class Engine;

class PeerView {
 public:
  explicit PeerView(Engine& engine) noexcept : engine_(engine) {}

  ph_status contact(Rank rank);
  ph_status state(Rank rank, ph_contact_state& state);
  // Of a rank of this job.
  ph_contact_state state_of(Rank rank) const;

 private:
  Engine& engine_;
};

ph_contact_state contact_state_of(Peer::State state) noexcept;
const char* text_of(ph_contact_state state) noexcept;

}  // namespace photon::engine
