// Opening and ending, and what can be said about paths.
#include "transport/tcp/tcp_transport.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/resource_limits.hpp"
#include "transport/tcp/tcp_transport_impl.hpp"

namespace photon::transport::tcp {

namespace {

base::Error with_advice(base::Error error) {
  if (error.native_errno == EMFILE || error.native_errno == ENFILE)
    error.what +=
        "; tcp needs 3 for each lane, one for each address where it listens, and one for each rank "
        "that is met";
  return error;
}

// What only a first contact would find out: calls that a sandbox refuses are made once for nothing.
base::Result<> check_calls(int listener, int epoll) {
  const auto is_refused = [](int result) { return result < 0 && base::is_call_refused(errno); };
  const base::UniqueFd stranger(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
  if (is_refused(stranger.get())) return base::system_error("tcp: accept4");
  epoll_event event{};
  if (is_refused(::epoll_wait(epoll, &event, 1, 0))) return base::system_error("tcp: epoll_wait");
  const base::UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr nowhere{};
  nowhere.sa_family = AF_UNSPEC;
  if (socket && is_refused(::connect(socket.get(), &nowhere, sizeof nowhere)))
    return base::system_error("tcp: connect");
  return {};
}

}  // namespace

const char* refusal_text(Refusal why) noexcept {
  switch (why) {
    case Refusal::silent: return "said not who it is";
    case Refusal::garbage: return "does not speak this protocol";
    case Refusal::version: return "speaks another version of the protocol";
    case Refusal::unexpected: return "is no rank that was expected here";
    case Refusal::wrong_secret: return "does not know the job's secret";
    case Refusal::crowded: return "had to make room for others that had not said who they are";
    case Refusal::no_room: return "found no descriptor left (ulimit -n)";
    case Refusal::wrong_key: break;
  }
  return "?";
}

base::Result<std::unique_ptr<Transport>> open_tcp(const base::Config& config, boot::Boot& boot) {
  return open_tcp(config, boot, TcpOptions{});
}

base::Result<std::unique_ptr<Transport>> open_tcp(const base::Config& config, boot::Boot& boot,
                                                  const TcpOptions& options) {
  if (auto can = boot::can_prove(); !can) return std::move(can.error());
  auto own = std::make_shared<OwnSide>();
  own->pending_ns = options.pending_ns;
  own->time = options.time;
  if (auto opened = own->open(options.regions, config.max_regions); !opened)
    return std::move(opened.error());
  return TcpTransport::open(config, boot, std::move(own), 0);
}

base::Result<std::unique_ptr<Transport>> TcpTransport::open(const base::Config& config,
                                                            boot::Boot& boot,
                                                            std::shared_ptr<OwnSide> own,
                                                            std::uint32_t lane) {
  auto addresses = boot::choose_addresses(
      {config.tcp_interface.view(), boot.local_size() == boot.size(), config.tcp_preferred.view()});
  if (!addresses) return with_advice(std::move(addresses.error()));
  auto listeners = boot::listen_at_all(*addresses);
  if (!listeners) return with_advice(std::move(listeners.error()));
  Parts parts;
  parts.own = std::move(own);
  parts.listeners = std::move(*listeners);
  parts.lane = lane;
  parts.epoll.reset(::epoll_create1(EPOLL_CLOEXEC));
  if (!parts.epoll) return with_advice(base::system_error("tcp: epoll"));
  if (auto checked = check_calls(parts.listeners.all.front().socket.get(), parts.epoll.get());
      !checked)
    return std::move(checked.error());
  network::Wakeup wake;
  if (!wake.open()) return with_advice(base::system_error("tcp: eventfd"));
  parts.spare.reset(::fcntl(wake.fd(), F_DUPFD_CLOEXEC, 0));
  if (!parts.spare) return with_advice(base::system_error("tcp: a descriptor in reserve"));
  if (auto taken = parts.own->take_lane(config.max_lanes); !taken) return std::move(taken.error());
  return std::unique_ptr<Transport>(
      std::make_unique<TcpTransport>(config, boot, std::move(parts), std::move(wake)));
}

base::Result<std::unique_ptr<Transport>> TcpTransport::open_lane(std::uint32_t number,
                                                                 boot::Boot& boot) {
  return open(config_, boot, parts_.own, number);
}

TcpTransport::TcpTransport(const base::Config& config, boot::Boot& boot, Parts parts,
                           network::Wakeup wake)
    : NetworkTransport({.config = config,
                        .boot = boot,
                        .time = parts.own->time,
                        .wake = std::move(wake),
                        .order = network::NewsQueue::Order::as_it_came,
                        .posts = true}),
      parties_{boot.rank(), boot.size(), parts.lane, kProtocol},
      parts_(std::move(parts)),
      peers_(boot.size()),
      flusher_(lock_, [this] { return flush_held(); }) {
  held_.reserve(peers_.size());  // kick() may not fail
  endpoint_info_.settings = network::shared_settings(config, boot.size());
  endpoint_info_.addresses = parts_.listeners.addresses;
  for (std::uint32_t i = 0; i < parts_.listeners.all.size(); ++i)
    watch(parts_.listeners.all[i].socket.get(), EPOLLIN, Watched::listener, i);
}

// What the kernel has taken still arrives: nobody is left who reads, so what the peers sent is read
// off first, since a close over unread bytes would be a reset, which may overtake ours.
TcpTransport::~TcpTransport() {
  flusher_.stop();
  for (const auto& peer : peers_) {
    if (peer == nullptr || peer->outlet == nullptr || peer->is_mute) continue;
    const std::uint8_t code = is_leaving_ ? 1 : 0;
    peer->outlet->add({{.kind = FrameKind::bye, .code = code}, {}, nullptr, 0});
    flush(*peer);
    part(*peer);
  }
  parts_.own->give_lane_back();
}

void TcpTransport::describe(Rank rank, ph_path& path) {
  const network::Entered entered(lock_);
  path.transport = rank == parties_.self ? "self" : "tcp";
  path.same_process = path.cma = path.arena_mapped = 0;
  const TcpPeer* peer = known(rank);
  std::string reason = "no contact yet: it is met when first used";
  if (rank == parties_.self) {
    reason = "itself: records by a ring; peers connect to " + endpoint_info_.addresses.text();
    reason += refused_.words("that", refusal_text);
  } else if (peer != nullptr && peer->is_open()) {
    reason = "a connection from " + boot::own_end(peer->socket.get()).text() + " to " +
             boot::other_end(peer->socket.get()).text() +
             ": records and payload in one stream, payload from and to its place";
  } else if (peer != nullptr && peer->state == TcpPeer::State::ended) {
    reason = "the connection has ended";
  } else if (peer != nullptr) {
    reason = "asked for a connection; its answer needs its progress";
  }
  std::snprintf(path.reason, sizeof path.reason, "%s", reason.c_str());
}

}  // namespace photon::transport::tcp
