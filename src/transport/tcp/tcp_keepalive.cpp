// Whether the other kernel still answers, where something of ours is under way to it
// (boot/keepalive.hpp has the means).
#include <algorithm>
#include <cerrno>

#include "boot/keepalive.hpp"
#include "transport/tcp/tcp_transport_impl.hpp"

namespace photon::transport::tcp {

// After every send: cheap, and it says nothing yet. Who sleeps has to look in time from now on.
void TcpTransport::await_confirmation(TcpPeer& peer) {
  if (peer.is_unconfirmed) return;
  peer.is_unconfirmed = true;
  unconfirmed_.push_back(&peer);
  wake_.ring_if_armed();
}

void TcpTransport::check_keepalive(std::int64_t now_ns) {
  confirmed_ns_ = now_ns;
  for (std::size_t i = 0; i < unconfirmed_.size();) {
    TcpPeer& peer = *unconfirmed_[i];
    const int socket = peer.socket.get();
    const bool is_handshake = peer.state == TcpPeer::State::handshake;
    if ((!peer.is_open() && !is_handshake) || boot::is_all_confirmed(socket)) {
      peer.is_unconfirmed = false;
      peer.owes_since_ns = 0;
      unconfirmed_[i] = unconfirmed_.back();
      unconfirmed_.pop_back();
      continue;
    }
    ++i;
    const std::int64_t owed = boot::owed_ns(socket, peer.owes_since_ns, now_ns);
    peer.owes_since_ns = owed == 0 ? 0 : now_ns - owed;
    if (owed < silence_ns()) continue;
    // Its last address: then that is the end of the round, and of the time for it.
    if (is_handshake && !peer.tries.has_more()) peer.unreached_ns = now_ns - owed;
    if (is_handshake) dial_failed(peer, ETIMEDOUT);
    if (!is_handshake) fell_silent(peer);
  }
}

// Whoever found out: we, or where nothing of ours was under way the kernel, which asks by itself.
base::Error TcpTransport::unconfirmed_ns(Rank rank) const {
  return {PH_ERR_PEER, ETIMEDOUT,
          "tcp: rank " + std::to_string(rank) + ": its host has not answered for " +
              std::to_string(config_.tcp_silence_s) +
              " s, though asked again and again (setting tcp_silence_s)",
          rank};
}

}  // namespace photon::transport::tcp
