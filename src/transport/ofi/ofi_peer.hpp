// What is known of one rank, and the messages to and from it.
//
//   asked -- its hello, or its endpoint info --> handshake -- both have proved themselves --> open
//   (none) -- its endpoint info --> handshake
//   open -- its bye, garbage, its process ended, it has cut us off, mute and silent --> ended:
//           on_gone
//   asked, handshake -- its endpoint info is none we can work with, it is not it, its process
//                       ended, mute and silent, it has cut us off --> ended
//
// mute: a message to it has failed, so nothing more is sent; what it has sent is still read for a
// while, and its bye may be among that. Whom we end while it lives is told by the bootstrap: it may
// wait for us, and nothing else would end that.
// Who gets the other's endpoint info says hello, so that who has asked need not look at the
// bootstrap again: it may compute. If both have asked both do, and the hello of the lower rank
// stays. released: the engine has disconnected it; messages go on, so that the peer notices
// nothing. Owner: OfiTransport.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "transport/network/network_peer.hpp"
#include "transport/ofi/ofi_early.hpp"
#include "transport/ofi/ofi_fragments.hpp"
#include "transport/ofi/ofi_handshake.hpp"
#include "transport/ofi/ofi_inlet.hpp"
#include "transport/ofi/ofi_keepalive.hpp"
#include "transport/ofi/ofi_outlet.hpp"
#include "transport/ofi/ofi_window.hpp"

namespace photon::transport::ofi {

// How long the provider may not take the first message or fragment to a peer before another
// endpoint of ours tries; of messages each time twice as long.
inline constexpr std::int64_t kUnreachedNs = 3'000'000'000;
// A rank that was away has seen and heard nothing meanwhile: of such a time only this much counts.
inline constexpr std::int64_t kAwayNs = 100'000'000;

// For how long something has been found so at each look.
class Patience {
 public:
  void over() noexcept { looked_ns_ = 0; }
  std::int64_t again(std::int64_t now_ns) noexcept {
    if (looked_ns_ == 0) since_ns_ = now_ns;
    since_ns_ += std::max<std::int64_t>(0, now_ns - looked_ns_ - kAwayNs);
    since_ns_ = std::min(since_ns_, now_ns);
    looked_ns_ = now_ns;
    return now_ns - since_ns_;
  }

 private:
  std::int64_t since_ns_ = 0;
  std::int64_t looked_ns_ = 0;
};

// An address of a peer's that we have taken.
struct Seat {
  std::vector<std::byte> address;
  std::uint64_t to = 0;
};

struct OfiPeer : network::NetworkPeer {
  using NetworkPeer::NetworkPeer;

  bool is_waiting = false;   // to send: the provider or the window is full
  bool says_bye = false;     // we end
  std::int64_t met_ns = 0;   // its endpoint info came
  std::int64_t said_ns = 0;  // our last word of the handshake went
  unsigned said_again = 0;   // so often
  unsigned unsaid = 0;       // messages of the handshake that could not be sent, in a row
  std::string gone_why = " has ended";         // what is said of it then
  std::int64_t no_way_ns = 0;                  // there has been no route to it since then; 0
  std::int64_t no_way_to_rma_endpoint_ns = 0;  // the same, for fragments
  std::int64_t mute_heard_ns = 0;              // sending has failed, or later it was heard; 0
  std::uint64_t mute_heard_count = 0;          // messages since
  std::string mute_why;
  std::vector<Seat> seats;     // where it is, by its endpoint info and its hellos
  Patience unreached;          // a hello is not taken
  Route route;                 // of its messages
  std::uint32_t sequence = 0;  // of the latest message that was built

  // Fragments (ofi_memory.cpp).
  Words words;  // of them `tells_due` are answers
  std::size_t tells_due = 0;
  std::uint64_t rma_endpoint = 0;  // its RMA endpoint, and where that is
  std::uint64_t rma_endpoint_to = 0;
  std::size_t rma_endpoint_by = 0;       // by which RMA endpoint of ours
  Patience rma_endpoint_full;            // that one has taken nothing to it since then; 0
  std::string rma_endpoint_words;        // why a fragment failed there, by the provider
  bool is_stalled = false;               // a fragment found the provider full
  bool is_lingering = false;             // it has ended with fragments under way
  bool is_gone_held = false;             // on_gone() waits for the fragments that are under way
  std::unique_ptr<Fragments> fragments;  // null: there was none
  Told told;                             // us, by its own fragments
  std::uint64_t wished = 0;              // the latest RMA endpoint of ours that ended at its wish

  // ofi_keepalive.cpp
  bool is_unconfirmed = false;  // it may not have all that was sent
  bool says_credits = false;    // though they have not changed
  std::uint32_t confirmed = 0;  // messages that it said it has
  std::uint32_t owed = 0;       // of which it was asked
  OfiKeepalive keepalive;

  std::optional<OfiHandshake> handshake;
  std::unique_ptr<Window> window;
  Outlet outlet;
  Inlet inlet;
  Early early;

  bool has_fragments_under_way() const noexcept {
    return fragments != nullptr && fragments->under_way() != 0;
  }
  // Something of ours may be under way to it.
  bool owes_confirmation() const noexcept {
    if (state == State::handshake) return handshake->is_owed();
    return is_open() && !is_mute() && (sequence != confirmed || has_fragments_under_way());
  }
  bool is_mute() const noexcept { return mute_heard_ns != 0; }
  // Nothing has to be done about it by the clock.
  bool is_settled() const noexcept {
    return state == State::ended || (is_open() && boot_gone_ns == 0 && !is_mute());
  }
  // Something of ours may be lost if the provider ends now.
  bool is_unsent() const noexcept {
    if (is_mute()) return false;
    return (window != nullptr && !window->is_idle()) ||
           (is_open() ? !outlet.is_idle(*link) || !words.empty()
                      : link != nullptr && link->has_run());
  }
};

}  // namespace photon::transport::ofi
