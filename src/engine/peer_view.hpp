// What a caller may do about its peers as such: meet one without sending anything, ask what is
// known of one, and map its memory (mappings.cpp). Makes no progress. Invariant: ph_path_to() and
// ph_peer_state() tell the same state. Owner: the call, in the lane of the engine.
#pragma once

#include "engine/parts/mappings.hpp"
#include "engine/parts/peer.hpp"

namespace photon::engine {

class Engine;

class PeerView {
 public:
  explicit PeerView(Engine& engine) noexcept : engine_(engine) {}

  // mappings.cpp
  ph_status contact(Rank rank);
  ph_status state(Rank rank, ph_contact_state& state);
  // Of the context's own lane.
  ph_status map(Rank rank, const ph_region& region, void*& local);
  ph_status unmap(void* local);

  // Of a rank of this job.
  ph_contact_state state_of(Rank rank) const;
  void unmap_all() noexcept;
  // Whether anybody has mapped our memory of that slot, which was freed.
  bool is_held(std::uint64_t slot) const noexcept;
  // What was freed while it was held, and is not any more.
  void give_back_freed() noexcept;
  bool has_freed() const noexcept;
  // Before the link to a peer goes whose process may live.
  void keep_held(const Peer& peer) noexcept;

 private:
  ph_status check_mappable(const Peer& peer, const ph_region& region);
  static bool has_left(const Peer& peer) noexcept;
  ph_status left(const Peer& peer);
  ph_status hold(Peer& peer, const ph_region& region, std::size_t entry);
  void let_go(const Mappings::One& one) noexcept;

  Engine& engine_;
};

ph_contact_state contact_state_of(Peer::State state) noexcept;
const char* text_of(ph_contact_state state) noexcept;

}  // namespace photon::engine
