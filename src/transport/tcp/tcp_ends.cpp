// How a peer ends: for us, and what it is told of it. docs/tcp.md, How connections end, has the
// table.
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "transport/tcp/tcp_transport_impl.hpp"

namespace photon::transport::tcp {

// It lives, as far as we know, and may wait for us: it hears why, behind all that it was sent. A
// full socket takes no words, and a peer that is not open yet has none to be read: the bootstrap
// tells it, too.
void TcpTransport::cut_off(Rank rank, const std::string& why) noexcept {
  const network::Entered entered(lock_);
  TcpPeer* peer = known(rank);
  if (peer == nullptr || peer->state == TcpPeer::State::ended || rank == parties_.self) return;
  tell_cut_off(rank, why);
  if (peer->is_open() && !peer->is_mute) {
    peer->words = why.substr(0, kMostWordBytes);
    FrameHead head;
    head.kind = FrameKind::bye;
    head.bytes = static_cast<std::uint32_t>(peer->words.size());
    const auto words = std::as_bytes(std::span(peer->words));
    peer->outlet->add({head, {}, words.data(), words.size()});
    flush(*peer);
    part(*peer);
  }
  end(*peer,
      {PH_ERR_PROTOCOL, 0, "tcp: rank " + std::to_string(rank) + " is cut off: " + why, rank});
}

// What it was sent arrives, if it reads: a close over unread bytes would be a reset.
void TcpTransport::part(TcpPeer& peer) noexcept {
  constexpr int kMostIgnored = 256;
  ::shutdown(peer.socket.get(), SHUT_WR);
  char ignored[4096];
  for (int i = 0; i < kMostIgnored; ++i)
    if (::recv(peer.socket.get(), ignored, sizeof ignored, MSG_DONTWAIT) <= 0) break;
}

// Ends the peer if reading its stream has come to an end.
void TcpTransport::heard_end(TcpPeer& peer, Inlet::Got got, int trouble) {
  const bool is_over = got == Inlet::Got::closed || got == Inlet::Got::broken;
  if (got == Inlet::Got::garbage)
    return cut_off(peer.rank, "it sent what no rank of this library sends");
  if (peer.is_cut_off) return end(peer, cut_off_error(peer.rank, peer.words));
  if (!is_over) return;
  if (!peer.cut_off_words.empty()) return end(peer, cut_off_error(peer.rank, peer.cut_off_words));
  // A send that failed takes the kernel's word for the reset, and the read finds an end.
  const bool is_reset =
      got == Inlet::Got::broken ? trouble == ECONNRESET : peer.is_mute && !peer.said_bye;
  if (is_reset) return await_reason(peer);
  if (got == Inlet::Got::closed && peer.said_bye) return end(peer, departed_error(peer));
  if (got == Inlet::Got::closed)
    return end(peer, peer_error(peer.rank,
                                ": the connection was closed without a bye, as when a "
                                "process ends; it is not made again"));
  if (trouble == ETIMEDOUT) return fell_silent(peer);
  end(peer, peer_error(peer.rank, std::string(": the connection broke: ") + std::strerror(trouble),
                       trouble));
}

// A close over unread bytes is a reset, which takes the last words from the stream. Who cuts a rank
// off sends an endpoint info with the reason first: that may still be on its way.
void TcpTransport::await_reason(TcpPeer& peer) {
  side_channel_.look_soon();
  if (peer.boot_gone_ns != 0) return end(peer, reset_error(peer.rank));
  peer.is_reset = true;
  peer.is_mute = true;
  if (!peer.is_unwatched)
    static_cast<void>(::epoll_ctl(parts_.epoll.get(), EPOLL_CTL_DEL, peer.socket.get(), nullptr));
  peer.is_unwatched = false;
  std::erase(hot_, peer.rank);
  peer.boot_gone_ns = time_.now_ns();
  ++unsettled_;
}

// Behind all that it said. That it has left the bootstrap may say, too, but later.
base::Error TcpTransport::departed_error(const TcpPeer& peer) const {
  base::Error why = peer_error(peer.rank, " has ended");
  if (peer.has_left) why.status = PH_ERR_DEPARTED;
  return why;
}

base::Error TcpTransport::reset_error(Rank rank) const {
  return peer_error(rank,
                    ": the connection was reset; whether its process lives its launcher knows; "
                    "it is not made again",
                    ECONNRESET);
}

// Its fragments are over, then it is gone. What stands in its ring stays until disconnect().
void TcpTransport::end(TcpPeer& peer, base::Error why) {
  if (peer.state == TcpPeer::State::ended) return;
  if (!peer.is_open() || peer.boot_gone_ns != 0) --unsettled_;
  peer.state = TcpPeer::State::ended;
  if (peer.held_since_ns != 0) std::erase(held_, &peer);
  peer.held_since_ns = 0;
  peer.is_blocked = false;
  std::erase(hot_, peer.rank);
  close_socket(peer.socket);
  peer.handshake.reset();
  peer.outlet.reset();
  peer.inlet.reset();
  peer.data_slot = nullptr;
  tell_written();
  for (Fragments::Slot& slot : peer.fragments.all()) {
    if (slot.token == 0) continue;
    tell({.kind = News::Kind::done, .token = slot.fragment.token, .status = PH_ERR_PEER});
    Fragments::end(slot);
  }
  side_channel_.look_soon();  // which may know that it left in order
  if (peer.is_released) {
    peer.link.reset();
    return;
  }
  // A rank that was never met may end unheard, unless we know why nobody can meet it.
  if (!peer.is_linked && why.status == PH_ERR_PEER && peer.attempts == 0) return;
  peer.why = std::move(why);
  tell({.kind = News::Kind::gone, .peer = &peer});
}

// It may live, and wait for us; or leave, and then nothing it left unread would be called lost.
void TcpTransport::fell_silent(TcpPeer& peer) {
  const base::Error why = unconfirmed_ns(peer.rank);
  tell_cut_off(peer.rank, why.what);
  end(peer, why);
}

void TcpTransport::tell_cut_off(Rank rank, const std::string& why) {
  TcpEndpointInfo endpoint_info = endpoint_info_;
  endpoint_info.what = TcpEndpointInfo::What::gone;
  std::copy_n(why.begin(), std::min(why.size(), endpoint_info.why.size() - 1),
              endpoint_info.why.begin());
  send_or_keep(rank, endpoint_info);
}

// The peer has cut us off. What it sent before may still be in the socket, and is read to its end.
void TcpTransport::take_cut_off(TcpPeer& peer, const TcpEndpointInfo& endpoint_info) {
  peer.cut_off_words = endpoint_info.why.data();
  if (peer.state == TcpPeer::State::ended) {
    if (!peer.is_gone_told) peer.why = cut_off_error(peer.rank, peer.cut_off_words);
    return;
  }
  if (!peer.is_open() || peer.is_reset)
    return end(peer, cut_off_error(peer.rank, peer.cut_off_words));
  if (peer.boot_gone_ns != 0) return;
  peer.boot_gone_ns = time_.now_ns();
  ++unsettled_;
}

base::Error TcpTransport::cut_off_error(Rank rank, const std::string& words) const {
  return peer_error(rank, " has cut this rank off: " + words, ECONNABORTED);
}

// An endpoint info that its peer waits for: where the bootstrap has no room for it now, poll()
// tries again. It also sends those of the flusher, to whom the bootstrap does not belong. Without a
// bootstrap, or memory, nobody can be told.
void TcpTransport::send_or_keep(Rank rank, const TcpEndpointInfo& endpoint_info) {
  if (side_channel_.is_broken()) return;
  if (!is_flusher_) {
    const auto sent = send_info(rank, endpoint_info);
    if (sent || sent.error().status != PH_AGAIN) return;
  }
  try {
    kept_infos_.emplace_back(rank, endpoint_info);
  } catch (const std::bad_alloc&) {
    return;
  }
  if (!is_flusher_) return;
  side_channel_.look_soon();
  wake_.ring_if_armed();  // who sleeps has not known of it
}

void TcpTransport::send_kept_infos() {
  for (const auto& [rank, endpoint_info] : std::exchange(kept_infos_, {}))
    send_or_keep(rank, endpoint_info);
}

}  // namespace photon::transport::tcp
