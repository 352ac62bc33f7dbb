// What both transports know of one rank: how far the two are with each other, what the engine has
// heard of it, and its link. tcp_peer.hpp and ofi_peer.hpp add the connection, and say what leads
// from one state to the next.
//
//   asked --> dialing (tcp) --> handshake --> open --> ended
//
// Invariant: the engine has a Link (is_linked) as long as it has not released the peer, whatever
// becomes of the connection; and hears once of an end.
// Owner: the transport, under its lock.
#pragma once

#include <cstdint>
#include <memory>

#include "base/config.hpp"
#include "base/result.hpp"
#include "transport/network/ring_over_network.hpp"
#include "transport/transport.hpp"

namespace photon::transport::network {

struct NetworkPeer {
  enum class State : std::uint8_t { asked, dialing, handshake, open, ended };

  explicit NetworkPeer(Rank its_rank) noexcept : rank(its_rank) {}

  const Rank rank;
  State state = State::asked;
  bool is_linked = false;         // the engine has its Link, or will hear of it in this poll
  bool is_released = false;       // the engine has disconnected it
  bool is_gone_told = false;      // to the engine
  bool has_asked = false;         // our question is out
  bool is_touched = false;        // its ring has news of this poll
  bool is_cut_off = false;        // we are, by it
  std::int64_t boot_gone_ns = 0;  // the bootstrap said that it ended, or later it was heard; 0
  base::Error why;                // of its end
  std::unique_ptr<RingOverNetwork> link;

  bool is_open() const noexcept { return state == State::open; }
  // The engine is about to know its Link. `posts`: a fragment that post() takes is a kick there,
  // too.
  base::Result<> give_link(const base::Config& config, bool is_self, bool posts);
};

}  // namespace photon::transport::network
