// Sending: what goes at once, what waits for room, and who goes on for a rank that computes.
// docs/ofi.md, Progress and Back-pressure, has the arguments.
#include <algorithm>
#include <cstring>
#include <utility>

#include "transport/ofi/ofi_providers.hpp"
#include "transport/ofi/ofi_transport_impl.hpp"

namespace photon::transport::ofi {

namespace {

// As long as no more is under way nobody has to help the provider: it is in the kernel, or will be
// when the rank calls next.
constexpr std::size_t kLeftAlone = 8;
// How long we stay for a rank that has asked for us and does not finish its handshake.
constexpr std::int64_t kHandshakeNs = 1'000'000'000;
// How long our end waits for the provider to take what is left, and that nothing came, so that an
// end of ours with unread bytes does not take back what we have sent.
constexpr std::int64_t kByeNs = 500'000'000;
constexpr std::int64_t kQuietNs = 2'000'000;
// So many messages of a handshake in a row may not be sent: a connection that hangs (docs/ofi.md)
// may take one with it.
constexpr unsigned kMostUnsaid = 4;
// How long a peer may be without a route to it.
constexpr std::int64_t kNoWayNs = 5'000'000'000;

}  // namespace

void OfiTransport::kick(Rank rank) noexcept {
  const network::Entered entered(lock_);
  OfiPeer* peer = known(rank);
  if (peer == nullptr || peer->link == nullptr || peer->is_released || peer->is_mute()) return;
  if (rank == parties_.self) {
    if (peer->is_touched) return;
    peer->is_touched = true;
    return tell({.kind = News::Kind::activity, .peer = peer});
  }
  if (!peer->is_open()) {
    static_cast<void>(flusher_.note());  // whoever answers is let in, although our rank computes
    return;
  }
  flush(*peer);
  if (under_way_ > kLeftAlone && !parts_.fabric->traits().progresses_itself)
    static_cast<void>(flusher_.note());
}

// Handshakes first; then all that the link has.
std::size_t OfiTransport::compose(OfiPeer& peer, std::span<std::byte> room) {
  if (peer.handshake && !peer.handshake->reply().empty()) {
    const auto reply = peer.handshake->reply();
    std::copy(reply.begin(), reply.end(), room.begin());
    peer.handshake->replied();
    return reply.size();
  }
  if (!peer.is_open()) return 0;
  MessageHead head{
      .key = peer.handshake->their_key(), .from = parties_.self, .sequence = peer.sequence + 1};
  std::size_t bytes = 0;
  if (!may_say_word(peer)) bytes = peer.outlet.compose(room, *peer.link, head);
  if (bytes == 0 && !peer.words.empty()) bytes = compose_word(peer, room, head);
  if (bytes == 0 && std::exchange(peer.says_credits, false))
    bytes = peer.outlet.compose_credits(room, *peer.link, head);
  if (bytes == 0 && peer.words.empty() && std::exchange(peer.says_bye, false)) {
    head.kind = MessageKind::bye;
    head.lines = is_leaving_ ? 1 : 0;
    std::memcpy(room.data(), &head, sizeof head);
    bytes = sizeof head;
  }
  if (bytes != 0) ++peer.sequence;
  return bytes;
}

void OfiTransport::flush(OfiPeer& peer) {
  if (peer.is_waiting || peer.is_mute() || peer.window == nullptr || is_broken_) return;
  if (is_ending_theirs_) return;  // nothing is said of an RMA endpoint that ends just now
  for (;;) {
    if (!peer.window->is_waiting()) {
      const auto room = peer.window->room();
      if (room.empty()) return wait_for_room(peer);
      const bool holds_handshake = peer.handshake && !peer.handshake->reply().empty();
      const std::size_t bytes = compose(peer, room);
      if (bytes == 0) return;
      peer.window->built(bytes, holds_handshake);
      await_confirmation(peer);
    }
    const bool holds_handshake = peer.window->holds_handshake();
    const auto taken = peer.window->send(*parts_.fabric, peer.route);
    if (taken != Fabric::Taken::no_way) peer.no_way_ns = 0;
    switch (taken) {
      case Fabric::Taken::yes:
        ++under_way_;
        ++taken_count_;
        // Should the provider hold it back and our rank not come again, the flusher has to.
        if (!parts_.fabric->traits().progresses_itself) static_cast<void>(flusher_.note_later());
        break;
      case Fabric::Taken::over: ++taken_count_; break;
      case Fabric::Taken::full: return wait_for_room(peer);
      case Fabric::Taken::no_way:
        if (is_way_awaited(peer.no_way_ns)) return wait_for_room(peer);
        return mute(peer, " cannot be sent to: " + parts_.fabric->words());
      case Fabric::Taken::refused:
      case Fabric::Taken::failed:
        if (holds_handshake && is_said_again(peer)) break;  // what stands behind it goes
        return mute(peer, " cannot be sent to: " + parts_.fabric->words());
    }
  }
}

// The dialer says it again by its clock, and the acceptor answers again.
bool OfiTransport::is_said_again(OfiPeer& peer) noexcept { return ++peer.unsaid <= kMostUnsaid; }

// A link may be down for a while; but an address that no route leads to is a mistake of somebody's,
// who has to hear of it.
bool OfiTransport::is_way_awaited(std::int64_t& since_ns) const noexcept {
  const std::int64_t now = time_.now_ns();
  if (since_ns == 0) since_ns = now;
  return now - since_ns < kNoWayNs;
}

// A gap in what it gets: nothing more is sent. What it sent is read first, for a while: its
// bye may be the reason, and then that is its end.
void OfiTransport::mute(OfiPeer& peer, std::string why) {
  if (peer.is_mute() || peer.state == OfiPeer::State::ended) return;
  if (peer.is_settled()) ++unsettled_;
  peer.mute_heard_ns = time_.now_ns();
  peer.mute_why = std::move(why) + way_text(parts_.fabric->traits());
  peer.is_waiting = false;
  peer.window->forget_waiting();
  wake_.ring_if_armed();  // the sleep that has begun has no such deadline
}

// Tried again after every look, by the flusher too: our rank may go and compute.
void OfiTransport::wait_for_room(OfiPeer& peer) {
  peer.is_waiting = true;
  waiting_.push_back(&peer);
  if (!is_retrying_) static_cast<void>(flusher_.note());
}

// Each once: who finds no room again stands behind the others. That is no news to the flusher,
// whose ticks get slower while nothing is taken.
void OfiTransport::flush_waiting() {
  is_retrying_ = true;
  std::swap(waiting_, retried_);
  for (OfiPeer* peer : retried_) {
    if (!std::exchange(peer->is_waiting, false)) continue;
    flush(*peer);
  }
  retried_.clear();
  is_retrying_ = false;
}

// To let somebody in, or to know where fragments go.
bool OfiTransport::awaits_word_of_any() noexcept {
  const auto has_waiting = [](const auto& peer) {
    return peer != nullptr && peer->is_open() && peer->fragments != nullptr &&
           peer->fragments->is_waiting();
  };
  const auto is_let_in = [](const auto& peer) {
    return peer != nullptr && peer->link != nullptr && !peer->is_open() &&
           peer->state != OfiPeer::State::ended && peer->link->has_run();
  };
  if (has_waiting_) has_waiting_ = std::any_of(peers_.begin(), peers_.end(), has_waiting);
  return has_waiting_ || (unsettled_ != 0 && std::any_of(peers_.begin(), peers_.end(), is_let_in));
}

// The Flusher, with the lock. Left: something takes longer. What has arrived stays where it is
// until poll(), unless a peer has to be let in before what it was sent can go, or has to say where
// our fragments go. The bootstrap belongs to the engine's threads.
network::Flusher::Look OfiTransport::flush_held() {
  const std::uint64_t taken_before = taken_count_;
  const std::size_t under_way_before = under_way_;
  look();
  const bool makes_room = under_way_ != under_way_before;
  const bool awaits_word = awaits_word_of_any();
  if (awaits_word) {
    take_arrived();
    static_cast<void>(parts_.receives->post());  // poll() does it again, and tells trouble
    attend(time_.now_ns());
  }
  flush_waiting();
  go_on_stalled();
  if (!waiting_.empty() && (makes_room || taken_count_ != taken_before))
    static_cast<void>(flusher_.note());  // it goes on: no slower yet
  if (parts_.receives->has_arrived() && wake_.is_armed()) wake_.ring();
  const bool is_left = awaits_word || !waiting_.empty() || !stalled_.empty() || under_way_ != 0;
  return is_left ? network::Flusher::Look::left : network::Flusher::Look::done;
}

bool OfiTransport::has_left_all() const noexcept {
  const std::int64_t now = unsettled_ == 0 ? 0 : time_.now_ns();
  for (const auto& peer : peers_) {
    if (peer == nullptr || peer->rank == parties_.self || peer->state == OfiPeer::State::ended)
      continue;
    // Who has asked for us is owed the engine's bye, and the engine does not know of it yet.
    // Not for long: it may be stopped.
    if (peer->state == OfiPeer::State::handshake && !peer->is_mute() &&
        now - peer->met_ns < kHandshakeNs)
      return false;
    if (peer->is_unsent() && !is_broken_) return false;
  }
  return side_channel_.is_idle();
}

// What peers still send is read off until nothing came for a while: an end with unread bytes may be
// told to them as an error before they have read what we sent. Who has ended is not waited for.
void OfiTransport::say_bye_to_all() {
  const auto is_other = [this](const auto& peer) {
    return peer != nullptr && peer->is_open() && peer->rank != parties_.self;
  };
  for (const auto& peer : peers_) {
    if (!is_other(peer)) continue;
    if (peer->fragments != nullptr) peer->fragments->give_all();
    peer->says_bye = true;
    flush(*peer);
  }
  const auto is_owed = [&](const auto& peer) {
    return is_other(peer) && peer->boot_gone_ns == 0 && !peer->is_mute() &&
           peer->window != nullptr && !peer->window->is_idle();
  };
  std::int64_t now = time_.now_ns();
  const std::int64_t until = now + kByeNs;
  std::int64_t quiet_until = now + kQuietNs;
  for (unsigned spins = 0; !is_broken_ && now < until && now < quiet_until; ++spins) {
    if (std::none_of(peers_.begin(), peers_.end(), is_other)) return;
    look();
    const bool has_come = parts_.receives->has_arrived();
    take_arrived();
    static_cast<void>(parts_.receives->post());
    flush_waiting();
    if (!side_channel_.is_broken()) receive_boot();
    now = time_.now_ns();
    if (has_come || std::any_of(peers_.begin(), peers_.end(), is_owed))
      quiet_until = now + kQuietNs;
    pause(spins);
  }
}

}  // namespace photon::transport::ofi
