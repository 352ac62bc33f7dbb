// First contact: endpoint infos over the side channel, who dials whom, and who is let in.
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "base/resource_limits.hpp"
#include "boot/keepalive.hpp"
#include "boot/tries.hpp"
#include "transport/tcp/tcp_transport_impl.hpp"
#include "transport/tcp/tcp_tuning.hpp"

namespace photon::transport::tcp {

namespace {

constexpr std::size_t kMostPending = 64;            // or the ranks, if they are more
constexpr std::int64_t kDialNs = 10'000'000'000;    // for the kernel to connect
constexpr unsigned kMostRounds = 6;                 // through all of its addresses
constexpr std::int64_t kFirstPauseNs = 10'000'000;  // four times as long after each

std::string named(Rank rank) { return "tcp: rank " + std::to_string(rank); }

bool is_of_descriptors(int trouble) noexcept { return trouble == EMFILE || trouble == ENFILE; }

}  // namespace

TcpPeer& TcpTransport::remember(Rank rank) {
  if (peers_[rank] == nullptr) {
    peers_[rank] = std::make_unique<TcpPeer>(rank);
    ++unsettled_;
  }
  return *peers_[rank];
}

base::Result<bool> TcpTransport::send_info(Rank rank, const TcpEndpointInfo& endpoint_info) {
  return side_channel_.send(rank, encode(endpoint_info));
}

void TcpTransport::take_info(Rank rank, std::span<const std::byte> bytes) {
  TcpPeer& peer = remember(rank);
  auto endpoint_info = decode_endpoint_info(bytes);
  const bool is_dialing =
      peer.state == TcpPeer::State::dialing || peer.state == TcpPeer::State::handshake;
  if (endpoint_info && endpoint_info->what == TcpEndpointInfo::What::gone)
    return take_cut_off(peer, *endpoint_info);
  // It has given us up; else it was late: there is a connection, or was.
  const bool gives_up =
      endpoint_info && endpoint_info->what == TcpEndpointInfo::What::unreachable && is_dialing;
  if (peer.state != TcpPeer::State::asked && !gives_up) return;
  auto same = endpoint_info
                  ? network::check_settings(endpoint_info_.settings, endpoint_info->settings)
                  : base::Result<>(endpoint_info.error());
  if (!same) {
    // The peer finds out from our endpoint info, as we do from its.
    if (!peer.has_asked) send_or_keep(rank, endpoint_info_);
    same.error().what = named(rank) + ": " + same.error().what;
    same.error().rank = rank;
    return end(peer, same.error());
  }
  if (endpoint_info->what == TcpEndpointInfo::What::unreachable) {
    const Tries told(endpoint_info->addresses, endpoint_info->troubles);
    return end(peer, {PH_ERR_PEER, boot::trouble_errno(told.trouble()),
                      named(rank) + " cannot connect to " + told.text() +
                          (is_of_descriptors(told.trouble())
                               ? "; raise the limit of descriptors there (ulimit -n)"
                               : " (setting tcp_interface)"),
                      rank});
  }
  peer.tries =
      Tries(endpoint_info->addresses, {.ours = endpoint_info_.addresses,
                                       .is_near = boot_.passes_descriptors(rank),
                                       .met = boot_.met_at(rank),
                                       .launchers_met = config_.tcp_preferred.view() != "none"});
  dial(peer);
}

void TcpTransport::dial(TcpPeer& peer) {
  const Address& to = peer.tries.now();
  peer.state = TcpPeer::State::dialing;
  peer.handshake.reset();
  ++peer.attempts;
  peer.dialed_ns = time_.now_ns();
  if (peer.unreached_ns == 0) peer.unreached_ns = peer.dialed_ns;
  // Until then it has to be connected.
  const std::int64_t patience_ns = boot::patience_ns(peer.tries, std::min(kDialNs, silence_ns()));
  peer.dial_at_ns =
      boot::deadline_ns(peer.dialed_ns, patience_ns, peer.unreached_ns + silence_ns());
  peer.socket.reset(
      ::socket(socket_address(to).family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!peer.socket) return dial_failed(peer, errno);
  boot::tune_connection(peer.socket.get(), config_.tcp_silence_s);
  if (const int trouble = boot::begin_connection(peer.socket.get(), to); trouble != 0)
    return dial_failed(peer, trouble);
  if (!watch(peer.socket.get(), EPOLLIN | EPOLLOUT, Watched::peer, peer.rank))
    dial_failed(peer, errno);
}

// Refused, or thrown out from among too many pending connections, or nobody is there: its next
// address at once; after the last one all of them once more, later. But who is not reached at all
// is not waited for longer than for who falls silent.
void TcpTransport::dial_failed(TcpPeer& peer, int trouble) {
  close_socket(peer.socket);
  peer.handshake.reset();
  peer.state = TcpPeer::State::dialing;
  // A host that closes the connection after another one was silent has proved nothing either.
  const bool has_hung_up = peer.unreached_ns == 0 && peer.tries.trouble() == Tries::kSilent;
  if (trouble == Tries::kStranger || trouble == Tries::kSilent || has_hung_up)
    peer.unreached_ns = peer.answered_ns;
  const std::int64_t now = time_.now_ns();
  peer.dial_at_ns = now;
  if (!peer.tries.next(trouble)) {
    const int left = peer.tries.trouble();
    const bool is_silent = left == Tries::kSilent;
    const bool is_over = !(is_silent && peer.tries.may_compute()) && peer.unreached_ns != 0 &&
                         now - peer.unreached_ns >= silence_ns();
    peer.rounds += is_silent ? 0U : 1U;
    if ((peer.rounds >= kMostRounds || is_over || left == Tries::kStranger) && !is_flusher_)
      return give_up(peer);
    const unsigned pauses = std::clamp(peer.rounds, 1U, kMostRounds) - 1;
    peer.dial_at_ns += kFirstPauseNs << (2 * pauses);
  }
  wake_.ring_if_armed();  // who sleeps has not known of this deadline
}

// Its rank waits for us, and hears that it waits in vain.
void TcpTransport::give_up(TcpPeer& peer) {
  const int trouble = peer.tries.trouble();
  TcpEndpointInfo endpoint_info = endpoint_info_;
  endpoint_info.what = TcpEndpointInfo::What::unreachable;
  endpoint_info.addresses = peer.tries.order();
  endpoint_info.troubles = peer.tries.troubles();
  send_or_keep(peer.rank, endpoint_info);
  std::string what = named(peer.rank) + " cannot be connected to at " + peer.tries.text();
  what += base::descriptors_advice(trouble, base::descriptors_limit());
  end(peer, {PH_ERR_PEER, boot::trouble_errno(trouble), what, peer.rank});
}

// Its socket has news while it is not open.
void TcpTransport::shake_hands(TcpPeer& peer) {
  if (peer.state == TcpPeer::State::dialing) {
    int trouble = 0;
    socklen_t bytes = sizeof trouble;
    ::getsockopt(peer.socket.get(), SOL_SOCKET, SO_ERROR, &trouble, &bytes);
    if (trouble == 0 && boot::is_connected_to_itself(peer.socket.get())) trouble = ECONNREFUSED;
    if (trouble != 0) return dial_failed(peer, trouble);
    auto handshake = Handshake::dial(boot_.secret(), parties_, peer.rank);
    if (!handshake) return dial_failed(peer, handshake.error().native_errno);
    peer.handshake = *handshake;
    peer.answered_ns = std::exchange(peer.unreached_ns, 0);  // its rank may compute
    peer.state = TcpPeer::State::handshake;
    peer.dial_at_ns = boot::deadline_ns(time_.now_ns(), boot::patience_ns(peer.tries, kDialNs),
                                        peer.answered_ns + silence_ns());
    epoll_event wanted{};
    wanted.events = EPOLLIN;
    wanted.data.u64 = std::uint64_t{static_cast<std::uint32_t>(Watched::peer)} << 32 | peer.rank;
    ::epoll_ctl(parts_.epoll.get(), EPOLL_CTL_MOD, peer.socket.get(), &wanted);
  }
  const Handshake::Step step = peer.handshake->advance(peer.socket.get());
  await_confirmation(peer);
  switch (step) {
    case Handshake::Step::waits: return;
    case Handshake::Step::open: return opened(peer);
    case Handshake::Step::broken: return dial_failed(peer, ECONNRESET);
    default: return dial_failed(peer, Tries::kStranger);
  }
}

// Both sides have proved themselves.
void TcpTransport::opened(TcpPeer& peer) {
  peer.handshake.reset();
  peer.state = TcpPeer::State::open;
  if (peer.boot_gone_ns == 0) --unsettled_;
  // The peer is open already, and would take the close for the end of our process.
  const auto refuse_it = [&](const base::Error& why) {
    tell_cut_off(peer.rank, why.what);
    end(peer, why);
  };
  if (auto given = give_link(peer); !given) return refuse_it(given.error());
  try {
    peer.inlet = std::make_unique<Inlet>();
    peer.outlet = std::make_unique<Outlet>();
  } catch (const std::bad_alloc&) {
    return refuse_it(
        {PH_ERR_MEMORY, 0, named(peer.rank) + ": no memory for its connection", peer.rank});
  }
  tune_within_host(peer.socket.get());
  tell({.kind = News::Kind::link, .peer = &peer});
  heat(peer.rank);
  flush(peer);
}

void TcpTransport::accept_pending(std::uint32_t listener) {
  constexpr int kMostPerPoll = 16;
  for (int i = 0; i < kMostPerPoll; ++i)
    if (!accept_one(listener)) return;
}

// False: there are no more now.
bool TcpTransport::accept_one(std::uint32_t listener) {
  const int listening = parts_.listeners.all[listener].socket.get();
  base::UniqueFd socket(::accept4(listening, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!socket) {
    if (errno == EINTR || errno == ECONNABORTED) return true;
    if (errno != EMFILE && errno != ENFILE) return false;
    // Left in the queue it would end every sleep, and its rank would wait: let it go.
    if (!parts_.spare) parts_.spare.reset(::fcntl(wake_.fd(), F_DUPFD_CLOEXEC, 0));
    parts_.spare.reset();
    socket.reset(::accept4(listening, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    const bool came = static_cast<bool>(socket);
    socket.reset();
    parts_.spare.reset(::fcntl(wake_.fd(), F_DUPFD_CLOEXEC, 0));
    if (came) count_refusal(Refusal::no_room);
    return came;
  }
  boot::tune_connection(socket.get(), config_.tcp_silence_s);
  if (pending_.size() >= std::max<std::size_t>(kMostPending, parties_.size))
    refuse(pending_.begin()->first, Refusal::crowded);
  const std::uint32_t number = next_pending_++;
  if (!watch(socket.get(), EPOLLIN, Watched::pending, number)) return true;
  pending_.emplace(number,
                   PendingConnection{std::move(socket), Handshake::accept(boot_.secret(), parties_),
                                     time_.now_ns() + parts_.own->pending_ns});
  wake_.ring_if_armed();  // who sleeps has not known of this deadline
  hear_pending(number);   // it may have spoken already
  return true;
}

void TcpTransport::hear_pending(std::uint32_t number) {
  const auto found = pending_.find(number);
  if (found == pending_.end()) return;
  PendingConnection& pending = found->second;
  switch (pending.handshake.advance(pending.socket.get())) {
    case Handshake::Step::waits: return;
    case Handshake::Step::proven: return admit_pending(number, pending);
    case Handshake::Step::garbage:
    case Handshake::Step::open: return refuse(number, Refusal::garbage);
    case Handshake::Step::wrong_version:
      if (refused(Refusal::version) == 0)
        PHOTON_LOG(log_, warn, "tcp: who connects speaks version %u of the protocol, and we %u",
                   pending.handshake.version(), kProtocol.version);
      return refuse(number, Refusal::version);
    case Handshake::Step::unexpected: return refuse(number, Refusal::unexpected);
    case Handshake::Step::wrong_secret: return refuse(number, Refusal::wrong_secret);
    case Handshake::Step::broken: return refuse(number, Refusal::silent);
  }
}

// It is the rank that it says it is. Where both have dialed, the connection of the lower rank
// stays; unless that has failed once, for then the other way may be the only one. But once its
// proof is out the higher rank may have taken it: the lower one may not change its mind then. And
// what the higher one has dialed meanwhile, once more, may prove itself when ours is open: it
// closes the connection by itself then, and is no stranger.
void TcpTransport::admit_pending(std::uint32_t number, PendingConnection& pending) {
  TcpPeer& peer = remember(pending.handshake.from());
  const bool is_dialing =
      peer.state == TcpPeer::State::dialing || peer.state == TcpPeer::State::handshake;
  const bool is_first = peer.attempts == 1 && !peer.has_crossed;
  const bool is_final = peer.handshake && peer.handshake->has_proved();
  const bool has_dialed = peer.is_open() && peer.attempts != 0;
  const bool is_ours = parties_.self < peer.rank && peer.socket &&
                       ((is_dialing && (is_first || is_final)) || has_dialed);
  if (is_ours) {
    peer.has_crossed = true;
    close_socket(pending.socket);
    pending_.erase(number);
    return;
  }
  if (peer.state != TcpPeer::State::asked && !is_dialing)
    return refuse(number, Refusal::unexpected);
  close_socket(peer.socket);
  peer.handshake.reset();
  if (is_dialing) {  // again, if the pending connection is gone meanwhile
    peer.state = TcpPeer::State::dialing;
    peer.dial_at_ns = time_.now_ns() + kFirstPauseNs;
    wake_.ring_if_armed();
  }
  if (!pending.handshake.welcome(pending.socket.get())) return refuse(number, Refusal::silent);
  peer.socket = std::move(pending.socket);
  pending_.erase(number);
  epoll_event wanted{};
  wanted.events = EPOLLIN;
  wanted.data.u64 = std::uint64_t{static_cast<std::uint32_t>(Watched::peer)} << 32 | peer.rank;
  ::epoll_ctl(parts_.epoll.get(), EPOLL_CTL_MOD, peer.socket.get(), &wanted);
  opened(peer);
}

void TcpTransport::refuse(std::uint32_t number, Refusal why) {
  const auto found = pending_.find(number);
  if (found == pending_.end()) return;
  close_socket(found->second.socket);
  pending_.erase(found);
  count_refusal(why);
}

void TcpTransport::count_refusal(Refusal why) noexcept {
  const std::uint64_t count = refused_.add(why);
  if (why == Refusal::silent)
    return;  // who dials at the same time as we closes the connection, too
  if (count == 1)
    PHOTON_LOG(log_, warn, "tcp: refused a connection to %s that %s; more of the kind are counted",
               endpoint_info_.addresses.text().c_str(), refusal_text(why));
}

// Not by closing alone: where a forked child has the descriptor too, it would stay watched.
void TcpTransport::close_socket(base::UniqueFd& socket) noexcept {
  if (socket) ::epoll_ctl(parts_.epoll.get(), EPOLL_CTL_DEL, socket.get(), nullptr);
  socket.reset();
}

bool TcpTransport::watch(int socket, std::uint32_t events, Watched what,
                         std::uint32_t number) noexcept {
  epoll_event wanted{};
  wanted.events = events;
  wanted.data.u64 = std::uint64_t{static_cast<std::uint32_t>(what)} << 32 | number;
  return ::epoll_ctl(parts_.epoll.get(), EPOLL_CTL_ADD, socket, &wanted) == 0;
}

}  // namespace photon::transport::tcp
