// Sending: what goes at once, what is held back and for how long; and fragments. docs/tcp.md,
// Holding back, has the argument.
#include <linux/sockios.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include <photon/memory.h>

#include "transport/access.hpp"
#include "transport/tcp/tcp_transport_impl.hpp"

namespace photon::transport::tcp {

namespace {

// A kick so soon after the last send is one of a stream: it waits for more, no longer than this.
constexpr std::int64_t kHoldNs = 2'000;
constexpr unsigned kMostHeld = 32;
// How long we stay for a rank that has asked for us and does not finish its handshake.
constexpr std::int64_t kHandshakeNs = 1'000'000'000;
// A payload of this size is worth a call of its own.
constexpr std::uint64_t kUrgentBytes = 16 << 10;

}  // namespace

void TcpTransport::kick(Rank rank) noexcept {
  const network::Entered entered(lock_);
  TcpPeer* peer = known(rank);
  if (peer == nullptr || peer->link == nullptr || peer->is_released) return;
  if (rank == parties_.self) {
    if (peer->is_touched) return;
    peer->is_touched = true;
    return tell({.kind = News::Kind::activity, .peer = peer});
  }
  if (peer->is_open()) return hold_or_flush(*peer, false);
  static_cast<void>(flusher_.note());  // whoever answers is let in, although our rank computes
}

void TcpTransport::kick_later(Rank rank) noexcept {
  const network::Entered entered(lock_);
  TcpPeer* peer = known(rank);
  if (peer == nullptr || !peer->is_open() || peer->is_released || rank == parties_.self)
    return kick(rank);
  if (wake_.is_armed())
    flush(*peer);  // nobody may come for what is held
  else
    hold(*peer);
}

void TcpTransport::hold_or_flush(TcpPeer& peer, bool is_urgent) {
  if (peer.is_blocked || peer.is_mute) return;  // it goes when there is room
  const std::int64_t now = time_.now_ns();
  const bool in_stream = now - peer.sent_ns < kHoldNs;
  if (is_urgent || !in_stream) return flush(peer);
  if (peer.outlet->is_idle(*peer.link)) return;  // it went with a fragment
  if (++peer.held_count >= kMostHeld) return flush(peer);
  hold(peer);
}

// Our rank may go and compute: then somebody else has to be able to send it.
void TcpTransport::hold(TcpPeer& peer) {
  if (peer.held_since_ns != 0 || peer.is_blocked || peer.is_mute) return;
  if (!flusher_.note()) return flush(peer);
  peer.held_since_ns = time_.now_ns();
  held_.push_back(&peer);
}

void TcpTransport::flush(TcpPeer& peer) {
  if (peer.held_since_ns != 0) std::erase(held_, &peer);
  peer.held_since_ns = 0;
  peer.held_count = 0;
  if (peer.outlet == nullptr || peer.is_mute || peer.outlet->is_idle(*peer.link)) return;
  // Credits alone begin no stream: what their rank sends next, often right after, is not held.
  const bool has_record = !peer.outlet->has_no_record(*peer.link);
  // What was read there has been dealt with: nothing is sent while frames are read.
  const Outlet::Scratch scratch(inlet_buffer_.data(), Outlet::kSmallBytes);
  const auto flushed = peer.outlet->flush(peer.socket.get(), *peer.link, regions(), scratch);
  if (has_record) {
    peer.sent_ns = time_.now_ns();
    peer.is_exchange = std::exchange(peer.has_spoken, false);
  }
  await_confirmation(peer);
  peer.is_blocked = flushed == Outlet::Flushed::blocked;
  // What it sent before it went is read first: the reading side finds the end.
  peer.is_mute = flushed == Outlet::Flushed::broken;
  // Where it is we who cannot (memory that was unmapped), the peer has to hear of an end, too.
  if (peer.is_mute) ::shutdown(peer.socket.get(), SHUT_WR);
  if (!peer.is_unwatched && peer.is_blocked != peer.is_armed) arm(peer, peer.is_blocked);
}

// While its socket takes no more, room in it is news, and ends a sleep.
void TcpTransport::arm(TcpPeer& peer, bool on) noexcept {
  epoll_event wanted{};
  wanted.events = on ? EPOLLIN | EPOLLOUT : EPOLLIN;
  wanted.data.u64 = std::uint64_t{static_cast<std::uint32_t>(Watched::peer)} << 32 | peer.rank;
  if (::epoll_ctl(parts_.epoll.get(), EPOLL_CTL_MOD, peer.socket.get(), &wanted) == 0)
    peer.is_armed = on;
}

// Whether there was any.
bool TcpTransport::flush_due(std::int64_t now_ns) {
  bool any = false;
  for (std::size_t i = 0; i < held_.size();) {
    TcpPeer& peer = *held_[i];
    if (now_ns - std::max(peer.held_since_ns, peer.sent_ns) < kHoldNs) {
      ++i;
      continue;
    }
    flush(peer);  // and it leaves the list
    any = true;
  }
  return any;
}

// The Flusher, with the lock. Left: somebody has to connect before what he was sent can go. The
// bootstrap belongs to the engine's threads: what needs it is left to them.
network::Flusher::Look TcpTransport::flush_held() {
  using Look = network::Flusher::Look;
  is_flusher_ = true;
  const bool any = flush_due(time_.now_ns());
  bool is_left = false;
  if (unsettled_ != 0) {
    is_left = std::any_of(peers_.begin(), peers_.end(), [](const auto& peer) {
      return peer != nullptr && peer->link != nullptr && peer->outlet == nullptr &&
             peer->state != TcpPeer::State::ended && peer->link->has_run();
    });
    if (is_left) look_at_sockets(nullptr);
  }
  is_flusher_ = false;
  if (is_left) return Look::left;
  return any ? Look::done : Look::needless;
}

bool TcpTransport::has_left_all() const noexcept {
  const std::int64_t now = unsettled_ == 0 ? 0 : time_.now_ns();
  for (const auto& peer : peers_) {
    if (peer == nullptr || peer->rank == parties_.self) continue;
    // Who has asked for us is owed the engine's bye, and the engine does not know of it yet.
    // Not for long: it may be stopped.
    if ((peer->handshake || (peer->state == TcpPeer::State::dialing && peer->socket)) &&
        now - peer->dialed_ns < kHandshakeNs)
      return false;
    if (peer->link == nullptr) continue;
    if (peer->state == TcpPeer::State::ended || peer->is_mute) continue;
    if (!peer->is_open()) {
      if (peer->link->has_run()) return false;
      continue;
    }
    if (!peer->outlet->is_idle(*peer->link)) return false;
    // To a peer of this host what was sent has arrived; from another one it may have to be sent
    // again, which ends when a reset comes back.
    int left = 0;
    const auto which = endpoint_info_.addresses.front().is_loopback() ? SIOCOUTQNSD : SIOCOUTQ;
    if (::ioctl(peer->socket.get(), which, &left) == 0 && left != 0) return false;
  }
  return kept_infos_.empty() && side_channel_.is_idle();
}

Reach TcpTransport::reach(Rank rank, std::uint64_t /*address*/,
                          std::uint64_t /*size_bytes*/) noexcept {
  const network::Entered entered(lock_);
  const TcpPeer* peer = known(rank);
  if (peer == nullptr || !peer->is_open() || peer->is_released || rank == parties_.self) return {};
  return {Reach::Kind::posted, nullptr};
}

bool TcpTransport::post(const PostedFragment& fragment) noexcept {
  const network::Entered entered(lock_);
  TcpPeer* peer = known(fragment.rank);
  const bool is_gone = peer == nullptr || peer->outlet == nullptr;
  if (is_gone || fragment.size_bytes > kMostFragmentBytes) {
    tell({.kind = News::Kind::done,
          .token = fragment.token,
          .status = is_gone ? PH_ERR_PEER : PH_ERR_RANGE});
    return true;
  }
  const Fragments::Slot* slot = peer->fragments.add(fragment);
  if (slot == nullptr) return false;
  const bool is_write = fragment.source != nullptr;
  Outlet::Item item;
  item.head.kind = is_write ? FrameKind::write : FrameKind::read;
  item.head.code = fragment.imm ? 1 : 0;
  item.head.bytes = fragment.imm.value_or(0);
  item.head.token = slot->token;
  item.body = {fragment.address, fragment.key, fragment.size_bytes};
  item.payload = fragment.source;
  item.payload_bytes = is_write ? fragment.size_bytes : 0;
  item.is_alone = is_write && fragment.size_bytes >= kUrgentBytes && peer->fragments.is_one();
  peer->outlet->add(item);
  hold_or_flush(*peer, is_write && fragment.size_bytes >= kUrgentBytes);
  return true;
}

// What a peer is writing under such a key goes nowhere from here on, and what it reads is not read.
void TcpTransport::quiesce() noexcept {
  const network::Entered entered(lock_);
  for (const auto& peer : peers_) {
    if (peer == nullptr || !peer->is_open() || peer->rank == parties_.self) continue;
    if (peer->inlet->is_placing() && peer->data_slot == nullptr && peer->write_status == PH_OK) {
      const FragmentBody& body = peer->write_body;
      peer->write_status =
          check_access(regions(), {body.address, body.key}, body.size_bytes, PH_ACCESS_WRITE);
      if (peer->write_status != PH_OK) peer->inlet->place_nothing();
    }
    if (auto let_go = peer->outlet->let_go(regions()); !let_go) {
      let_go.error().rank = peer->rank;
      end(*peer, let_go.error());
    }
  }
}

}  // namespace photon::transport::tcp
