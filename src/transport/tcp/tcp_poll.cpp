// News: the sockets read last at every poll, all others through epoll, the side channel by the
// clock; and how connections end.
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "boot/tries.hpp"
#include "transport/tcp/tcp_port.hpp"
#include "transport/tcp/tcp_transport_impl.hpp"

namespace photon::transport::tcp {

namespace {

constexpr std::size_t kMostHot = 2;
constexpr unsigned kHeardOften = 16;        // worth two calls to spare each message epoll's part
constexpr std::uint64_t kPollsPerLook = 8;  // at all sockets, or, for who polls seldom:
constexpr std::int64_t kLookNs = 20'000;
constexpr unsigned kPatience = 4;  // so many times as long, when poll() has brought something
// In an exchange a look at the socket costs less than the turn of the engine around it.
constexpr unsigned kLooksForAnswer = 4;
constexpr std::int64_t kAnswerNs = 20'000;  // for so long
constexpr int kMostReads = 32;              // of one socket in one poll
constexpr int kMostEvents = 64;
constexpr std::int64_t kAttendNs = 1'000'000;
// After the bootstrap said that a rank has ended, and after the last of what its kernel still had
// to deliver.
constexpr std::int64_t kByeWaitNs = 1'000'000'000;
// After a reset, for an endpoint info with the peer's reason. It was sent before.
constexpr std::int64_t kReasonNs = 250'000'000;

}  // namespace

// Collects what frames say for dispatch().
class TcpTransport::FramePort final : public PortNews {
 public:
  explicit FramePort(TcpTransport& transport) noexcept : transport_(transport) {}

  void on_ring(TcpPeer& peer) override {
    if (std::exchange(peer.is_touched, true)) return;
    transport_.tell({.kind = News::Kind::activity, .peer = &peer});
  }
  void on_landed(TcpPeer& peer, std::uint32_t imm) override {
    transport_.tell({.kind = News::Kind::fragment, .peer = &peer, .imm = imm});
  }
  void on_over(TcpPeer& /*peer*/, std::uint64_t token, ph_status status) override {
    transport_.tell({.kind = News::Kind::done, .token = token, .status = status});
  }
  void on_written(TcpPeer& /*peer*/, std::uint64_t token) override {
    const News news{.kind = News::Kind::done, .token = token};
    if (transport_.wake_.is_armed()) return transport_.tell(news);
    transport_.written_.push_back(news);
  }

 private:
  TcpTransport& transport_;
};

// That a write of ours is over can wait for the next poll: what came with it, often a message that
// our rank answers, goes first. Nothing else came: it is told at once.
void TcpTransport::tell_written() {
  if (!written_.empty()) news_.take(written_);
}

void TcpTransport::poll(Sink& sink) noexcept {
  const network::Entered entered(lock_);
  flusher_.came();
  const std::int64_t now = time_.now_ns();
  if (!held_.empty()) flush_due(now);
  tell_written();
  has_told_ = false;
  const std::size_t hot_count = hot_.size();
  const unsigned looks = awaits_answer(now) ? kLooksForAnswer : 1;
  if (looks != 1) known(hot_.front())->link->warm();
  for (unsigned i = 0; i < looks && !has_told_; ++i) look_at_hot(sink);
  // Who was told something may be waited for.
  const unsigned patience = has_told_ ? kPatience : 1;
  if (hot_count == 0 || ++polls_count_ >= patience * kPollsPerLook ||
      now - looked_ns_ >= patience * kLookNs) {
    polls_count_ = 0;
    looked_ns_ = now;
    look_at_sockets(&sink);
  }
  const bool is_look_due = side_channel_.is_due(now, patience);
  if (now - attended_ns_ >= kAttendNs) attend(now);
  if (is_look_due) receive_boot();
  if (!has_told_) tell_written();
  if (!news_.is_empty()) dispatch(sink);
}

void TcpTransport::look_at_hot(Sink& sink) {
  Rank hot[kMostHot + 1];  // callbacks change the list
  const std::size_t hot_count = hot_.size();
  std::copy(hot_.begin(), hot_.end(), hot);
  for (std::size_t i = 0; i < hot_count; ++i) {
    TcpPeer& peer = *known(hot[i]);
    if (peer.is_blocked) flush(peer);
    if (peer.is_open()) receive(peer, sink);
  }
}

// The peer that was heard last has just been answered, and answers as soon.
bool TcpTransport::awaits_answer(std::int64_t now_ns) const noexcept {
  if (hot_.empty()) return false;
  const TcpPeer& peer = *known(hot_.front());
  return peer.is_exchange && now_ns - peer.sent_ns < kAnswerNs;
}

// Who was heard last comes first. Who cannot be watched again has to stay. Of these there are never
// more than kMostHot, so hot_ holds one more at most.
void TcpTransport::heat(Rank rank) {
  const auto found = std::find(hot_.begin(), hot_.end(), rank);
  if (found == hot_.end()) {
    if (hot_.size() >= kMostHot) {
      const auto last = std::find_if(hot_.rbegin(), hot_.rend(),
                                     [this](Rank hot) { return watch_again(*known(hot)); });
      if (last != hot_.rend()) hot_.erase(std::next(last).base());
    }
    hot_.insert(hot_.begin(), rank);
  } else if (found != hot_.begin()) {
    std::rotate(hot_.begin(), found, found + 1);
  }
  TcpPeer& peer = *known(rank);
  ++peer.heard_count;
  // While one of our threads sleeps, another one's polls do not stand in for its descriptors.
  if (peer.heard_count >= kHeardOften && !peer.is_unwatched && !wake_.is_armed() &&
      hot_.size() <= kMostHot)
    unwatch(peer);
}

// While every poll reads the socket, to tell epoll of each message is lost time: the sender's.
void TcpTransport::unwatch(TcpPeer& peer) noexcept {
  if (::epoll_ctl(parts_.epoll.get(), EPOLL_CTL_DEL, peer.socket.get(), nullptr) != 0) return;
  peer.is_unwatched = true;
  peer.is_armed = false;
}

// False: the kernel has no memory for it now.
bool TcpTransport::watch_again(TcpPeer& peer) noexcept {
  peer.heard_count = 0;
  if (!peer.is_unwatched) return true;
  const std::uint32_t events = peer.is_blocked ? EPOLLIN | EPOLLOUT : EPOLLIN;
  if (!watch(peer.socket.get(), events, Watched::peer, peer.rank)) return false;
  peer.is_unwatched = false;
  peer.is_armed = peer.is_blocked;
  return true;
}

// Told before anything is sent: what its initiator publishes after a fragment was over cannot have
// come yet.
void TcpTransport::receive(TcpPeer& peer, Sink& sink) {
  if (peer.is_reset) return;
  FramePort news(*this);
  PeerPort port(peer, regions(), news);
  Inlet::Got got = Inlet::Got::some;
  bool any = false;
  for (int i = 0; i < kMostReads && got == Inlet::Got::some; ++i) {
    got = peer.inlet->receive(peer.socket.get(), port, inlet_buffer_);
    any = any || got == Inlet::Got::some || got == Inlet::Got::last;
  }
  const int trouble = errno;
  heard_end(peer, got, trouble);
  if (any && peer.boot_gone_ns != 0) peer.boot_gone_ns = time_.now_ns();
  if (!any && news_.is_empty()) return;
  if (!news_.is_empty()) dispatch(sink);
  if (!peer.is_open()) return;
  if (any) {
    peer.has_spoken = true;
    peer.is_exchange = false;
    heat(peer.rank);
  }
  // Who reads of us waits; who wrote is answered with what our rank is about to send, if it is.
  // A rank that is about to sleep may not send anything.
  const bool is_due = peer.outlet->waiting() != 0;
  if (std::exchange(peer.is_asked, false) || (is_due && wake_.is_armed()))
    flush(peer);
  else if (is_due)
    hold(peer);
}

// Without a sink: connections are made, but nothing that arrives is read.
void TcpTransport::look_at_sockets(Sink* sink) {
  epoll_event events[kMostEvents];
  const int count = ::epoll_wait(parts_.epoll.get(), events, kMostEvents, 0);
  for (int i = 0; i < count; ++i) {
    const auto number = static_cast<std::uint32_t>(events[i].data.u64);
    switch (static_cast<Watched>(events[i].data.u64 >> 32)) {
      case Watched::listener: accept_pending(number); break;
      case Watched::pending: hear_pending(number); break;
      case Watched::peer:
        if (TcpPeer* peer = known(number)) peer_event(*peer, events[i].events, sink);
        break;
    }
  }
}

void TcpTransport::peer_event(TcpPeer& peer, std::uint32_t events, Sink* sink) {
  if (peer.state == TcpPeer::State::dialing || peer.state == TcpPeer::State::handshake) {
    if (peer.socket) shake_hands(peer);
    return;
  }
  if (!peer.is_open()) return;
  if ((events & EPOLLOUT) != 0) flush(peer);
  if ((events & ~std::uint32_t{EPOLLOUT}) != 0 && sink != nullptr) receive(peer, *sink);
}

void TcpTransport::receive_boot() {
  side_channel_.begin_look();
  send_kept_infos();
  take_messages();
  if (side_channel_.is_broken()) kept_infos_.clear();
}

void TcpTransport::boot_gone(Rank rank, const char* why) {
  TcpPeer& peer = remember(rank);
  if (peer.state == TcpPeer::State::ended) return;
  if (!peer.socket) return end(peer, peer_error(rank, std::string(" ") + why));
  if (peer.is_reset) return end(peer, reset_error(peer.rank));
  // What it sent may still come, and the end of the stream behind it.
  if (peer.boot_gone_ns != 0) return;
  peer.boot_gone_ns = time_.now_ns();
  if (peer.is_open()) ++unsettled_;
}

// Deadlines.
void TcpTransport::attend(std::int64_t now_ns) {
  attended_ns_ = now_ns;
  while (!pending_.empty() && pending_.begin()->second.until_ns <= now_ns)
    refuse(pending_.begin()->first, Refusal::silent);
  if (!unconfirmed_.empty() && now_ns - confirmed_ns_ >= boot::kKeepaliveCheckNs)
    check_keepalive(now_ns);
  if (unsettled_ == 0) return;
  for (const auto& peer : peers_)
    if (peer != nullptr && peer->state != TcpPeer::State::ended) attend(*peer, now_ns);
}

void TcpTransport::attend(TcpPeer& peer, std::int64_t now_ns) {
  if (peer.is_reset && now_ns - peer.boot_gone_ns >= kReasonNs)
    return end(peer, reset_error(peer.rank));
  if (peer.boot_gone_ns != 0 && now_ns - peer.boot_gone_ns >= kByeWaitNs)
    return end(peer, peer.cut_off_words.empty() ? peer_error(peer.rank, " has ended")
                                                : cut_off_error(peer.rank, peer.cut_off_words));
  // It may compute, and answer later; but a stranger who says nothing shall not be all we try. Once
  // our proof is out it is that rank, and may have taken the connection.
  const bool is_handshake = peer.state == TcpPeer::State::handshake && peer.tries.is_hurried() &&
                            !peer.handshake->has_proved();
  if ((peer.state != TcpPeer::State::dialing && !is_handshake) || now_ns < peer.dial_at_ns) return;
  // It is we who may have been away: what has come meanwhile counts.
  if (peer.socket && (is_handshake || boot::is_connected(peer.socket.get()))) {
    shake_hands(peer);
    if (!is_handshake || peer.state != TcpPeer::State::handshake || peer.handshake->has_proved())
      return;
  }
  if (peer.socket) return dial_failed(peer, is_handshake ? Tries::kSilent : ETIMEDOUT);
  if (peer.boot_gone_ns != 0) return end(peer, peer_error(peer.rank, " has ended"));
  dial(peer);
}

// What the bootstrap knows of an end is looked for before that is told.
void TcpTransport::dispatch(Sink& sink) {
  if (news_.has_gone() && !side_channel_.is_broken()) receive_boot();
  has_told_ = true;
  news_.tell(sink);
}

}  // namespace photon::transport::tcp
