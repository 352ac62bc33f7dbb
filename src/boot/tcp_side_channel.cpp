// Opening and ending, sending, and what becomes of a rank.
#include "boot/tcp_side_channel.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <utility>

#include "boot/limits.hpp"

namespace photon::boot {

TcpSideChannel::TcpSideChannel(const base::Config& config, Place place, Watch& watch, Inbox& inbox)
    : config_(config),
      log_(config.log, place.rank),
      parties_{place.rank, place.size, 0, kSideChannelProtocol},
      pending_ns_(place.pending_ns),
      time_(place.time),
      watch_(watch),
      inbox_(inbox) {}

base::Result<std::unique_ptr<TcpSideChannel>> TcpSideChannel::open(const base::Config& config,
                                                                   Place place, Watch& watch,
                                                                   Inbox& inbox) {
  if (auto can = can_prove(); !can) return can.error();
  auto addresses =
      choose_addresses({config.tcp_interface.view(), false, config.tcp_preferred.view()});
  if (!addresses) return addresses.error();
  auto listeners = listen_at_all(*addresses);
  if (!listeners) return listeners.error();
  std::unique_ptr<TcpSideChannel> made(new TcpSideChannel(config, place, watch, inbox));
  made->listeners_ = std::move(*listeners);
  made->timer_.reset(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!made->timer_) return base::system_error("timerfd for messages between hosts");
  made->spare_.reset(::fcntl(made->timer_.get(), F_DUPFD_CLOEXEC, 0));
  if (!made->spare_) return base::system_error("a descriptor in reserve");
  return made;
}

// What the kernel has taken still arrives: nobody is left who reads, so what the others sent is
// read off first, since a close over unread bytes would be a reset, which may overtake ours.
TcpSideChannel::~TcpSideChannel() {
  time_.ring_at(timer_.get(), 0);
  const auto close = [this](base::UniqueFd& socket) {
    constexpr int kMostReads = 256;
    char ignored[4096];
    if (!socket) return;
    ::shutdown(socket.get(), SHUT_WR);
    for (int i = 0; i < kMostReads; ++i)
      if (::recv(socket.get(), ignored, sizeof ignored, MSG_DONTWAIT) <= 0) break;
    close_socket(socket);
  };
  for (auto& [rank, peer] : peers_)
    if (peer.out) close(peer.out->socket);
  for (auto& [number, way] : ways_in_) close(way.socket);
  // Where a forked child has it too, it would go on taking connections that nobody serves.
  for (const Listener& one : listeners_.all) ::shutdown(one.socket.get(), SHUT_RDWR);
}

base::Result<> TcpSideChannel::begin(const Secret& secret, std::vector<Addresses> addresses) {
  secret_ = &secret;
  addresses_ = std::move(addresses);
  // Not before: who comes has to prove that he knows the secret.
  auto watched = watch_.add(timer_.get(), EPOLLIN, tag(Tagged::clock, 0));
  for (std::uint32_t i = 0; i < listeners_.all.size() && watched; ++i)
    watched = watch_.add(listeners_.all[i].socket.get(), EPOLLIN, tag(Tagged::listener, i));
  return watched;
}

base::Result<bool> TcpSideChannel::send(Rank to, std::span<const std::byte> bytes) {
  Peer& peer = peers_[to];
  if (peer.gone || (peer.out && peer.out->state == WayOut::State::over)) return false;
  const bool is_first = !peer.out;
  if (is_first) peer.out = std::make_unique<WayOut>();
  if (!peer.out->frames.push(SideFrameKind::message, bytes)) return queue_full(to);
  if (is_first) {
    // That a rank is here is no business of the side channel's.
    peer.out->tries =
        Tries(addresses_[to], {.ours = addresses(),
                               .met = met_at(to),
                               .launchers_met = config_.tcp_preferred.view() != "none"});
    dial(to);
  } else
    flush(to);
  return !peer.gone;
}

void TcpSideChannel::handle(const Ready& ready) {
  const auto number = static_cast<std::uint32_t>(ready.tag);
  switch (static_cast<Tagged>((ready.tag & ~kOurs) >> 32)) {
    case Tagged::listener: return accept_pending(number);
    case Tagged::clock: return on_clock();
    case Tagged::out: return hear_out(number);
    case Tagged::in: return hear_in(number);
  }
}

bool TcpSideChannel::idle() const {
  return std::ranges::all_of(peers_, [](const auto& entry) {
    const WayOut* const out = entry.second.out.get();
    return out == nullptr || out->frames.empty();
  });
}

bool TcpSideChannel::has_left(Rank rank) const {
  const auto peer = peers_.find(rank);
  return peer != peers_.end() && peer->second.left;
}

// Whoever has a way to us, or we one to it, hears of it; who comes later hears it with his welcome.
void TcpSideChannel::leave() {
  leaving_ = true;
  for (auto& [number, way] : ways_in_) {
    SideFrameWriter bye;
    bye.push(SideFrameKind::bye, {});
    if (way.state != WayIn::State::pending) static_cast<void>(bye.flush(way.socket.get()));
  }
  std::vector<Rank> met;
  for (auto& [rank, peer] : peers_)
    if (peer.out && peer.out->state != WayOut::State::over) met.push_back(rank);
  for (const Rank rank : met) {
    peers_[rank].out->frames.push(SideFrameKind::bye, {});
    flush(rank);
  }
}

// A way of that rank's is over: is there another, or one that may bring its first message yet?
void TcpSideChannel::settle(Rank rank) {
  const Peer& peer = peers_[rank];
  const bool has_out = peer.out && peer.out->state != WayOut::State::over;
  const bool may_speak = std::ranges::any_of(ways_in_, [rank](const auto& entry) {
    return entry.second.state == WayIn::State::proven && entry.second.handshake.from() == rank;
  });
  if (!has_out && peer.in == 0 && !may_speak) tell_gone(rank);
}

void TcpSideChannel::tell_gone(Rank rank) {
  Peer& peer = peers_[rank];
  if (std::exchange(peer.gone, true)) return;
  if (peer.out) {
    peer.out->state = WayOut::State::over;
    peer.out->frames = {};
    close_socket(peer.out->socket);
  }
  if (const auto way = ways_in_.find(peer.in); way != ways_in_.end()) {
    close_socket(way->second.socket);
    ways_in_.erase(way);
  }
  peer.in = 0;
  inbox_.push({.kind = Message::Kind::gone, .from = rank, .why = peer.why, .is_by_network = true});
}

std::optional<Address> TcpSideChannel::met_at(Rank rank) const {
  const auto found = peers_.find(rank);
  if (found == peers_.end()) return std::nullopt;
  const WayOut* const out = found->second.out.get();
  if (out != nullptr && out->state == WayOut::State::open) return other_end(out->socket.get());
  const auto in = ways_in_.find(found->second.in);
  if (in == ways_in_.end()) return std::nullopt;
  return other_end(in->second.socket.get());
}

void TcpSideChannel::expel(Rank rank, const char* why) {
  peers_[rank].why = why;
  tell_gone(rank);
}

// Not by closing alone: where a forked child has the descriptor too, it would stay watched, and the
// connection would stay open.
void TcpSideChannel::close_socket(base::UniqueFd& socket) {
  if (socket) watch_.remove(socket.get());
  if (socket) ::shutdown(socket.get(), SHUT_RDWR);
  socket.reset();
}

}  // namespace photon::boot
