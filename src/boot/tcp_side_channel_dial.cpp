// Ways out: to ranks that we have something to say to.
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/resource_limits.hpp"
#include "boot/keepalive.hpp"
#include "boot/tcp_side_channel.hpp"
#include "boot/tries.hpp"

namespace photon::boot {
namespace {

constexpr std::int64_t kDialNs = 10'000'000'000;  // for the kernel to connect
constexpr unsigned kMostAttempts = 6;             // that nobody answers
constexpr std::int64_t kFirstPauseNs = 10'000'000;
constexpr unsigned kMostDoublings = 6;  // two after each attempt

// We have no means now, or somebody answers and has thrown us out: who computes long between two
// calls of ours is late with its proof, and who has run out of descriptors takes nobody. That says
// nothing about the rank's end.
bool says_nothing(int trouble) {
  return trouble == ECONNRESET || trouble == EMFILE || trouble == ENFILE || trouble == ENOBUFS ||
         trouble == ENOMEM || trouble == Tries::kSilent;
}

std::int64_t silence_ns(const base::Config& config) {
  return static_cast<std::int64_t>(config.tcp_silence_s) * 1'000'000'000;
}

}  // namespace

void TcpSideChannel::dial(Rank to) {
  WayOut& way = *peers_[to].out;
  const Address& at = way.tries.now();
  way.state = WayOut::State::dialing;
  way.socket.reset(
      ::socket(socket_address(at).family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!way.socket) return dial_failed(to, errno);
  tune_connection(way.socket.get(), config_.tcp_silence_s);
  if (const int trouble = begin_connection(way.socket.get(), at); trouble != 0)
    return dial_failed(to, trouble);
  if (auto watched = watch_.add(way.socket.get(), EPOLLIN | EPOLLOUT, tag(Tagged::out, to));
      !watched)
    return dial_failed(to, watched.error().native_errno);
  const std::int64_t now_ns = time_.now_ns();
  if (way.unreached_ns == 0) way.unreached_ns = now_ns;
  const std::int64_t most_ns = std::min(kDialNs, silence_ns(config_));
  way.due_ns =
      deadline_ns(now_ns, patience_ns(way.tries, most_ns), way.unreached_ns + silence_ns(config_));
  wake_at(way.due_ns);
}

// Its next address, soon: not from here, for we may have been called by dial().
void TcpSideChannel::dial_failed(Rank to, int trouble) {
  WayOut& way = *peers_[to].out;
  close_socket(way.socket);
  way.handshake.reset();
  way.state = WayOut::State::pausing;
  // A host that closes the connection after another one was silent has proved nothing either.
  const bool has_hung_up = way.unreached_ns == 0 && way.tries.trouble() == Tries::kSilent;
  if (trouble == Tries::kStranger || trouble == Tries::kSilent || has_hung_up)
    way.unreached_ns = way.answered_ns;
  if (!way.tries.next(trouble)) return round_failed(to);
  way.due_ns = time_.now_ns();
  wake_at(way.due_ns);
}

// Once more, later, if that may help: it does not where nobody listens any more, or the rank's own
// way to us has ended.
void TcpSideChannel::round_failed(Rank to) {
  Peer& peer = peers_[to];
  WayOut& way = *peer.out;
  const int trouble = way.tries.trouble();
  if (trouble == Tries::kStranger)
    return end_out(to, "cannot be met: who answers at its address cannot prove to be it");
  if (trouble == ECONNREFUSED) return end_out(to, "has ended: nobody listens at its address");
  if (peer.in_over) return end_out(to, peer.why);
  // Tried for ever, so somebody has to know.
  if (const auto advice = base::descriptors_advice(trouble, base::descriptors_limit());
      way.failed == 0 && !advice.empty())
    PHOTON_LOG(log_, warn, "bootstrap: no socket yet to reach rank %u by%s", to, advice.c_str());
  const std::int64_t now_ns = time_.now_ns();
  if (!says_nothing(trouble)) ++way.unanswered;
  // We wait for a rank that cannot be reached no longer than for a silent one, unless it computes.
  const bool is_over = way.unreached_ns != 0 && now_ns - way.unreached_ns >= silence_ns(config_);
  const bool may_live = trouble == Tries::kSilent ? way.tries.may_compute() : says_nothing(trouble);
  if (way.unanswered < kMostAttempts && (!is_over || may_live)) {
    way.due_ns = now_ns + (kFirstPauseNs << std::min(2 * way.failed++, kMostDoublings));
    return wake_at(way.due_ns);
  }
  PHOTON_LOG(log_, warn, "bootstrap: rank %u cannot be connected to at %s", to,
             way.tries.text().c_str());
  end_out(to, "cannot be connected to (setting tcp_interface)");
}

void TcpSideChannel::hear_out(Rank to) {
  const auto peer = peers_.find(to);
  if (peer == peers_.end() || !peer->second.out) return;
  switch (peer->second.out->state) {
    case WayOut::State::dialing:
    case WayOut::State::handshake: return shake_hands(to);
    case WayOut::State::open: flush(to); return hear_answers(to);
    case WayOut::State::pausing:
    case WayOut::State::over: return;  // news of a socket that is closed by now
  }
}

// The socket has news, and the other side has not welcomed us.
void TcpSideChannel::shake_hands(Rank to) {
  WayOut& way = *peers_[to].out;
  const int socket = way.socket.get();
  if (way.state == WayOut::State::dialing) {
    if (!is_connected(socket)) return;
    int trouble = 0;
    socklen_t bytes = sizeof trouble;
    ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &trouble, &bytes);
    if (trouble == 0 && is_connected_to_itself(socket)) trouble = ECONNREFUSED;
    if (trouble != 0) return dial_failed(to, trouble);
    auto handshake = Handshake::dial(*secret_, parties_, to);
    if (!handshake) return dial_failed(to, handshake.error().native_errno);
    way.handshake = *handshake;
    way.answered_ns = std::exchange(way.unreached_ns, 0);  // its rank may compute
    way.state = WayOut::State::handshake;
    way.due_ns = deadline_ns(time_.now_ns(), patience_ns(way.tries, kDialNs),
                             way.answered_ns + silence_ns(config_));
    wake_at(way.due_ns);
    static_cast<void>(watch_.change(socket, EPOLLIN, tag(Tagged::out, to)));
  }
  const Handshake::Step step = way.handshake->advance(socket);
  await_confirmation();
  if (step == Handshake::Step::waits) return;
  if (step == Handshake::Step::broken) return dial_failed(to, ECONNRESET);
  if (step != Handshake::Step::open) return dial_failed(to, Tries::kStranger);
  way.handshake.reset();
  way.state = WayOut::State::open;
  flush(to);
  hear_answers(to);  // it may have left before it welcomed us
}

// Nothing comes that way but a bye.
void TcpSideChannel::hear_answers(Rank to) {
  Peer& peer = peers_[to];
  if (!peer.out || peer.out->state != WayOut::State::open) return;
  switch (peer.out->answers.next(peer.out->socket.get())) {
    case SideFrameReader::Step::waits: return;
    case SideFrameReader::Step::bye: peer.left = true; return end_out(to, "has left");
    case SideFrameReader::Step::ended: return end_out(to, "closed its connection without a bye");
    case SideFrameReader::Step::message:
    case SideFrameReader::Step::garbage:
      return end_out(to, "sent what no rank of this library sends");
  }
}

// The end of the connection is found by reading, after what may lie before it.
void TcpSideChannel::flush(Rank to) {
  WayOut& way = *peers_[to].out;
  if (way.state != WayOut::State::open || (way.frames.empty() && !way.awaits_room)) return;
  const bool awaits_room = way.frames.flush(way.socket.get()) == Sent::full;
  await_confirmation();
  if (awaits_room == way.awaits_room) return;
  way.awaits_room = awaits_room;
  const std::uint32_t events = awaits_room ? EPOLLIN | EPOLLOUT : EPOLLIN;
  static_cast<void>(watch_.change(way.socket.get(), events, tag(Tagged::out, to)));
}

void TcpSideChannel::end_out(Rank to, const char* why) {
  Peer& peer = peers_[to];
  WayOut& way = *peer.out;
  close_socket(way.socket);
  way.handshake.reset();
  way.frames = {};
  way.state = WayOut::State::over;
  peer.why = why;
  // Without a way to it we cannot answer: it shall not wait for that, and hears that we are gone.
  // One that leaves waits for nothing, and what it has still to say comes by its own way.
  if (const auto in = ways_in_.find(peer.in); in != ways_in_.end() && !peer.left)
    ::shutdown(in->second.socket.get(), SHUT_WR);
  settle(to);
}

}  // namespace photon::boot
