#include "boot/datagram_boot.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "boot/address_blob.hpp"
#include "boot/limits.hpp"

namespace photon::boot {
namespace {

constexpr std::uint32_t kDatagramMagic = 0x44424850;  // "PHBD"

struct DatagramHeader {
  std::uint32_t magic;
  std::uint32_t from;
  std::uint32_t body_bytes;
  std::uint32_t kind;  // DatagramBoot::Kind
  Secret secret;
};
static_assert(sizeof(DatagramHeader) == 48);

// Tags in the watch: the own socket, the inbox, then two per peer; the side channel has its own.
constexpr std::uint64_t kSocketTag = 0;
constexpr std::uint64_t kInboxTag = 1;
constexpr std::uint64_t pidfd_tag(Rank rank) { return 2 + 2 * std::uint64_t{rank}; }
constexpr std::uint64_t outbox_tag(Rank rank) { return 3 + 2 * std::uint64_t{rank}; }

// Takes the same time wherever the first difference is, so that nobody can guess byte by byte.
bool equal_secrets(const Secret& one, const Secret& other) {
  std::byte difference{0};
  for (std::size_t i = 0; i < one.size(); ++i) difference |= one[i] ^ other[i];
  return difference == std::byte{0};
}

}  // namespace

base::Result<DatagramBoot::Parts> DatagramBoot::make_parts() {
  auto inbox = Inbox::create();
  if (!inbox) return inbox.error();
  auto watch = Watch::create();
  if (!watch) return watch.error();
  auto endpoint_info = boot::own_endpoint_info();
  if (!endpoint_info) return endpoint_info.error();
  base::UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return base::system_error("socket for messages between ranks");
  const int on = 1;
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) < 0) {
    return base::system_error("SO_PASSCRED on the socket for messages between ranks");
  }
  const DatagramName address = datagram_name(*endpoint_info);
  if (::bind(socket.get(), address.get(), address.size_bytes) < 0) {
    return base::system_error("binding the socket for messages between ranks");
  }
  if (auto added = watch->add(inbox->fd(), EPOLLIN, kInboxTag); !added) return added.error();
  if (auto added = watch->add(socket.get(), EPOLLIN, kSocketTag); !added) return added.error();
  return Parts{*endpoint_info, std::move(*inbox), std::move(*watch), std::move(socket)};
}

DatagramBoot::DatagramBoot(Place place, Parts parts)
    : place_(place),
      inbox_(std::move(parts.inbox)),
      watch_(std::move(parts.watch)),
      socket_(std::move(parts.socket)),
      own_(parts.own),
      known_(place.size) {}

void DatagramBoot::place(Rank rank, const EndpointInfo& endpoint_info, bool near) {
  if (near) ++local_size_;
  known_[rank] = {endpoint_info.name,
                  endpoint_info.start_ticks,
                  endpoint_info.pid,
                  true,
                  near,
                  near && endpoint_info.pid_namespace == own_.pid_namespace};
}

base::Result<Addresses> DatagramBoot::open_side_channel(const base::Config& config) {
  auto opened = TcpSideChannel::open(config, place_, watch_, inbox_);
  if (!opened) return opened.error();
  side_channel_ = std::move(*opened);
  return side_channel_->addresses();
}

base::Result<> DatagramBoot::begin_messages(std::vector<Addresses> addresses) {
  return side_channel_->begin(secret_, std::move(addresses));
}

bool DatagramBoot::has_left(Rank rank) const {
  if (!knows(rank)) return false;
  if (!passes_descriptors(rank)) return side_channel_->has_left(rank);
  const auto peer = peers_.find(rank);
  return peer != peers_.end() && peer->second.left;
}

// The endpoint info of a rank, as far as it was kept.
EndpointInfo DatagramBoot::endpoint_info_of(Rank rank) const {
  EndpointInfo endpoint_info = own_;
  const Known& known = known_[rank];
  if (!known.same_pids) endpoint_info.pid_namespace = 0;
  endpoint_info.name = known.name;
  endpoint_info.start_ticks = known.start_ticks;
  endpoint_info.pid = known.pid;
  return endpoint_info;
}

bool DatagramBoot::has_ended(Rank rank) const {
  const auto peer = peers_.find(rank);
  return peer != peers_.end() && (peer->second.left || peer->second.refused);
}

bool DatagramBoot::is_gone(Rank rank) const {
  const auto peer = peers_.find(rank);
  return peer != peers_.end() && peer->second.seen == Seen::gone;
}

base::Result<bool> DatagramBoot::send(Rank to, std::span<const std::byte> bytes,
                                      std::span<const int> fds) {
  if (auto checked = check_message({to, size()}, bytes.size(), fds.size()); !checked) {
    return checked.error();
  }
  if (!knows(to)) return no_address(to);
  if (!passes_descriptors(to)) {
    if (!fds.empty()) return other_host(to);
    return send_far(to, bytes);
  }
  if (auto met = meet(to); !met) return met.error();
  if (!address_exchange_.empty() && to != rank() && !peers_[to].told) {
    const auto told =
        post(to, Kind::introduction, {.header = {}, .body = address_exchange_, .fds = {}});
    if (!told || !*told) return told;
    peers_[to].told = true;
  }
  return post(to, Kind::message, {.body = bytes, .fds = fds});
}

// By one connection, so the introduction is what comes first.
base::Result<bool> DatagramBoot::send_far(Rank to, std::span<const std::byte> bytes) {
  if (!address_exchange_.empty() && !far_told_.contains(to)) {
    const auto told = side_channel_->send(to, address_exchange_);
    if (!told || !*told) return told;
    far_told_.insert(to);
  }
  return side_channel_->send(to, bytes);
}

Secret DatagramBoot::key_of(const std::array<std::byte, 16>& name) const {
  return address_exchange_.empty() ? secret_ : sender_key(secret_, name);
}

// Puts our header before the packet's body. False: the rank is gone.
base::Result<bool> DatagramBoot::post(Rank to, Kind kind, const Packet& packet) {
  Peer& peer = peers_[to];
  if (peer.seen == Seen::gone) return false;
  if (auto connected = connect_to(to); !connected) return connected.error();
  if (peer.seen == Seen::gone) return false;
  const DatagramHeader header{kDatagramMagic, rank(),
                              static_cast<std::uint32_t>(packet.body.size()),
                              static_cast<std::uint32_t>(kind), key_of(own_.name)};
  const bool was_empty = peer.outbox.empty();
  const auto sent = peer.outbox.post(
      peer.socket.get(), {.header = bytes_of(header), .body = packet.body, .fds = packet.fds});
  if (!sent) return sent.error();
  if (*sent == Sent::full) return queue_full(to);
  if (*sent == Sent::gone) {
    if (auto told = set_refused(to); !told) return told.error();
    return false;
  }
  if (was_empty && !peer.outbox.empty()) {
    // A connected datagram socket is writable when its peer's queue has room (unix(7)).
    auto watched = watch_.add(peer.socket.get(), EPOLLOUT, outbox_tag(to));
    if (!watched) return watched.error();
  }
  return true;
}

base::Result<std::optional<Message>> DatagramBoot::receive() {
  if (inbox_.empty()) {
    for (const Ready& ready : watch_.ready()) {
      if (auto handled = handle(ready); !handled) return handled.error();
    }
  }
  while (auto message = inbox_.pop())
    if (is_for_us(*message)) return message;
  return std::optional<Message>{};
}

// Not what comes from afar before its sender has said who it is, nor the end of who never did.
bool DatagramBoot::is_for_us(const Message& message) {
  const Rank from = message.from;
  if (address_exchange_.empty() || !message.is_by_network) return true;
  // The rank of that number is within this host, and talks by datagrams: this is another process.
  const bool is_taken = from == rank() || (knows(from) && passes_descriptors(from));
  if (message.kind == Message::Kind::gone) return knows(from) && !is_taken;
  if (!is_taken && far_heard_.contains(from)) return true;
  if (!is_taken && on_address(from, message.bytes, nullptr)) {
    far_heard_.insert(from);
  } else {
    ++dropped_count_;
    side_channel_->expel(from, "says to be a rank that is known by another address");
  }
  return false;
}

// Zeros are no key: they are what is made where the library fails.
bool DatagramBoot::is_key_of(const Secret& key, const std::array<std::byte, 16>& name) const {
  const Secret wanted = key_of(name);
  return wanted != Secret{} && equal_secrets(key, wanted);
}

void DatagramBoot::refuse(const EndpointInfo& endpoint_info) {
  const base::UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const DatagramName address = datagram_name(endpoint_info);
  if (!socket || ::connect(socket.get(), address.get(), address.size_bytes) != 0) return;
  const DatagramHeader header{kDatagramMagic, rank(), 0, static_cast<std::uint32_t>(Kind::refusal),
                              key_of(own_.name)};
  static_cast<void>(send_packet(socket.get(), {.header = bytes_of(header), .body = {}, .fds = {}}));
}

base::Result<> DatagramBoot::handle(const Ready& ready) {
  if (ready.tag == kSocketTag) return drain_socket();
  if (ready.tag == kInboxTag) return {};
  if (TcpSideChannel::is_ours(ready.tag)) {
    side_channel_->handle(ready);
    return {};
  }
  const Rank rank = static_cast<Rank>((ready.tag - 2) / 2);
  return ready.tag == pidfd_tag(rank) ? set_gone(rank) : flush_to(rank);
}

base::Result<> DatagramBoot::flush_to(Rank to) {
  Peer& peer = peers_[to];
  if (peer.seen == Seen::gone) return {};  // an earlier event of the same batch said so
  const auto sent = peer.outbox.flush(peer.socket.get());
  if (!sent) return sent.error();
  if (*sent == Sent::gone) return set_refused(to);
  if (*sent == Sent::taken) watch_.remove(peer.socket.get());
  return {};
}

base::Result<> DatagramBoot::connect_to(Rank to) {
  Peer& peer = peers_[to];
  if (peer.socket) return {};
  peer.socket.reset(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!peer.socket) return base::system_error("socket for messages to a rank");
  const DatagramName address = datagram_name(endpoint_info_of(to));
  if (::connect(peer.socket.get(), address.get(), address.size_bytes) == 0) return {};
  if (errno == ECONNREFUSED) return set_refused(to);
  base::Error error = base::system_error("connecting to the socket of rank " + std::to_string(to));
  error.rank = to;
  return error;
}

// From the first message in either direction on, its end is news.
base::Result<> DatagramBoot::meet(Rank rank) {
  Peer& peer = peers_[rank];
  if (peer.seen != Seen::silent) return {};
  peer.seen = Seen::met;
  Process process = watch_process(own_, endpoint_info_of(rank));
  if (process.state == Process::State::ended) return set_gone(rank);
  peer.pidfd = std::move(process.pidfd);
  return peer.pidfd ? watch_.add(peer.pidfd.get(), EPOLLIN, pidfd_tag(rank)) : base::Result<>{};
}

base::Result<> DatagramBoot::set_gone(Rank rank) {
  Peer& peer = peers_[rank];
  if (peer.seen == Seen::gone) return {};
  // What it sent before it ended lies in our socket already: datagrams are delivered on sending.
  if (auto drained = drain_socket(); !drained) return drained;
  if (peer.seen == Seen::gone) return {};  // a bye was among it
  if (peer.pidfd) watch_.remove(peer.pidfd.get());
  if (!peer.outbox.empty()) watch_.remove(peer.socket.get());
  peer.seen = Seen::gone;
  peer.pidfd.reset();
  peer.socket.reset();
  peer.outbox = {};
  Message gone;
  gone.kind = Message::Kind::gone;
  gone.from = rank;
  if (peer.refused) gone.why = "knows another process by the number of this rank";
  inbox_.push(std::move(gone));
  return {};
}

// Its socket takes nothing: closed by a process that lives on, it was closed in order. A process
// that was killed closes it too, before its pidfd tells of the end: so it is asked whether it is
// ending, and only then whether it has ended.
base::Result<> DatagramBoot::set_refused(Rank rank) {
  Peer& peer = peers_[rank];
  pollfd process{.fd = peer.pidfd.get(), .events = POLLIN, .revents = 0};
  const bool ours = known_[rank].pid == own_.pid && known_[rank].same_pids;
  const bool lives = peer.pidfd && !is_exiting(known_[rank].pid) && ::poll(&process, 1, 0) == 0;
  if (ours || lives) peer.left = true;
  return set_gone(rank);
}

base::Result<> DatagramBoot::leave() {
  if (std::exchange(leaving_, true)) return {};
  // From here on senders are refused; what came before is still there, and is answered.
  (void)::shutdown(socket_.get(), SHUT_RD);
  if (auto drained = drain_socket(); !drained) return drained;
  watch_.remove(socket_.get());
  base::Result<> outcome;  // of the first who cannot be told; all others are
  while (const auto message = inbox_.pop()) {
    if (message->kind == Message::Kind::gone || !passes_descriptors(message->from)) continue;
    auto told = post(message->from, Kind::bye, {});
    if (!told && outcome) outcome = told.error();
  }
  if (side_channel_) side_channel_->leave();
  return outcome;
}

base::Result<> DatagramBoot::drain_socket() {
  std::array<std::byte, sizeof(DatagramHeader) + kMaxMessageBytes + 1> buffer;
  std::vector<Rank> senders;
  // Bounded: somebody's flood must not keep a rank here. What a dead peer left is at most one
  // socket queue (net.unix.max_dgram_qlen), which is shorter than this.
  for (int i = 0; i < 4096; ++i) {
    auto arrival = receive_packet(socket_.get(), buffer);
    if (!arrival) return arrival.error();
    if (!*arrival) break;
    const std::size_t size_bytes = (*arrival)->size_bytes;
    if (size_bytes == 0 && leaving_) break;  // shut, and empty
    const auto sender = accept(std::move(**arrival), std::span(buffer).first(size_bytes));
    if (!sender) ++dropped_count_;
    if (sender && (peers_[*sender].seen == Seen::silent || has_ended(*sender)))
      senders.push_back(*sender);
  }
  for (const Rank sender : senders) {
    auto noted = has_ended(sender) ? set_gone(sender) : meet(sender);
    if (!noted) return noted;
  }
  return {};
}

// The sender, if the packet is a message of this job; it is in the inbox then, without descriptors
// where this process may have no more: whoever expects them can say so.
std::optional<Rank> DatagramBoot::accept(Arrival arrival, std::span<const std::byte> packet) {
  DatagramHeader header;
  const bool is_cut = arrival.truncated && !arrival.lost_descriptors;
  if (is_cut || packet.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, packet.data(), sizeof header);
  const std::span<const std::byte> body = packet.subspan(sizeof header);
  const bool is_sound = header.magic == kDatagramMagic && header.from < size() &&
                        body.size() == header.body_bytes && body.size() <= kMaxMessageBytes &&
                        arrival.fds.size() <= kMaxMessageFds;
  if (!is_sound || !arrival.sender || arrival.sender->uid != own_.uid) return std::nullopt;
  const bool introduces = header.kind == static_cast<std::uint32_t>(Kind::introduction);
  if (introduces && !on_address(header.from, body, &header.secret)) return std::nullopt;
  if (!knows(header.from) || is_gone(header.from) ||
      !is_key_of(header.secret, known_[header.from].name)) {
    return std::nullopt;
  }
  if (introduces) return header.from;
  if (header.kind == static_cast<std::uint32_t>(Kind::bye) ||
      header.kind == static_cast<std::uint32_t>(Kind::refusal)) {
    Peer& peer = peers_[header.from];
    (header.kind == static_cast<std::uint32_t>(Kind::bye) ? peer.left : peer.refused) = true;
    return header.from;
  }
  inbox_.push(
      {.from = header.from, .bytes = {body.begin(), body.end()}, .fds = std::move(arrival.fds)});
  return header.from;
}

bool DatagramBoot::sends_wait() const {
  if (side_channel_ && !side_channel_->idle()) return true;
  return std::ranges::any_of(peers_,
                             [](const auto& entry) { return !entry.second.outbox.empty(); });
}

}  // namespace photon::boot
