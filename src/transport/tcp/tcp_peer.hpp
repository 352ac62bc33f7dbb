// What is known of one rank, and the connection to it.
//
//   asked -- its endpoint info --> dialing -- connected --> handshake -- welcome --> open
//   asked -- it has dialed, and proved itself ----------------------------> open
//   (none) -- its endpoint info: dialing;  it has dialed: open
//   dialing, handshake -- refused, broken, silent --> dialing its next address; after the last one
//                         its first again, later, a few times --> ended
//   open -- the stream's end, garbage, an error --> ended: its fragments are over, then on_gone
//   open -- a reset --> open, is_reset -- its endpoint info with the reason, its process ended,
//                       a while --> ended
//   any -- its process ended, and no connection is under way --> ended
//
//   dialing, handshake -- it has dialed as well, is the lower rank --> open, by its connection
//
// Who dials: who gets the other's endpoint info. If both have sent theirs both dial, and of the two
// connections that of the lower rank stays: the higher one takes it in the place of its own, the
// lower one closes the connection to the other. There is no second connection to a rank that is
// open or ended. released: the engine has disconnected it; the connection goes on, so that the peer
// notices nothing, until that ends it. Owner: TcpTransport.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "boot/handshake.hpp"
#include "boot/tries.hpp"
#include "transport/network/network_peer.hpp"
#include "transport/tcp/tcp_fragments.hpp"
#include "transport/tcp/tcp_inlet.hpp"
#include "transport/tcp/tcp_outlet.hpp"
#include "wire/record.hpp"

namespace photon::transport::tcp {

using boot::Handshake;
using boot::Parties;
using boot::Tries;

inline constexpr std::uint64_t kHelloMagic = 0x6f'6c'6c'65'68'63'74'70ULL;  // "ptchello"
inline constexpr boot::Protocol kProtocol{kHelloMagic, wire::kVersion};

struct TcpPeer : network::NetworkPeer {
  using NetworkPeer::NetworkPeer;

  bool has_crossed = false;        // its connection came while ours was made, and was given up
  bool said_bye = false;           // it has
  bool has_left = false;           // and in order
  bool is_blocked = false;         // its socket takes no more
  bool is_armed = false;           // epoll looks for room in the socket
  bool is_unwatched = false;       // epoll does not look at the socket: every poll does
  bool is_mute = false;            // sending has failed: what it sent is read to its end
  bool is_reset = false;           // its reason may still come by the bootstrap
  bool is_asked = false;           // it waits for an answer: no holding back
  bool is_unconfirmed = false;     // something was sent since all was confirmed
  bool has_spoken = false;         // since our last message
  bool is_exchange = false;        // our last message answered one of its, and none has come since
  std::int64_t owes_since_ns = 0;  // its kernel has not answered since; 0: it owes nothing
  std::int64_t held_since_ns = 0;  // something waits to be sent; 0: nothing
  std::int64_t sent_ns = 0;        // end of the last send
  unsigned held_count = 0;
  unsigned heard_count = 0;   // reads that brought something since we slept
  std::string words;          // last ones, its or ours
  std::string cut_off_words;  // by the bootstrap: it has cut us off; empty
  // dialing, handshake
  boot::Tries tries;
  unsigned attempts = 0;          // to connect
  unsigned rounds = 0;            // through all addresses, that were in vain
  std::int64_t unreached_ns = 0;  // since then nobody has answered there; 0
  std::int64_t answered_ns = 0;   // what that was before somebody answered who may be a stranger
  std::int64_t dialed_ns = 0;     // when we tried last
  std::int64_t dial_at_ns = 0;    // when to try again
  std::optional<Handshake> handshake;

  base::UniqueFd socket;
  std::unique_ptr<Outlet> outlet;
  std::unique_ptr<Inlet> inlet;
  Fragments fragments;
  // The write of the peer's that is coming in, and why it does not land.
  FrameHead write;
  FragmentBody write_body;
  ph_status write_status = PH_OK;
  Fragments::Slot* data_slot = nullptr;  // the read of ours that is coming in
  ph_status data_status = PH_OK;         // why it cannot be placed
};

}  // namespace photon::transport::tcp
