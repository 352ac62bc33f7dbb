#include "boot/callback_boot.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "boot/introduction.hpp"
#include "boot/limits.hpp"
#include "boot/meanwhile.hpp"

namespace photon::boot {
namespace {

constexpr std::uint32_t kDatagramMagic = 0x44424850;  // "PHBD"

struct DatagramHeader {
  std::uint32_t magic;
  std::uint32_t from;
  std::uint32_t body_bytes;
  std::uint32_t kind;  // CallbackBoot::Kind
  Secret secret;
};
static_assert(sizeof(DatagramHeader) == 48);

// Tags in the watch: the own socket, the inbox, then two per peer; the messenger has its own.
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

base::Result<> check_bootstrap(const ph_bootstrap& bootstrap) {
  if (!bootstrap.allgather || !bootstrap.barrier || bootstrap.size == 0 ||
      bootstrap.rank >= bootstrap.size) {
    return base::Error{.status = PH_ERR_ARGUMENT,
                       .what = "ph_bootstrap needs both callbacks and rank < size, not rank " +
                               std::to_string(bootstrap.rank) + " of " +
                               std::to_string(bootstrap.size)};
  }
  return {};
}

}  // namespace

base::Result<std::unique_ptr<Boot>> CallbackBoot::open(const ph_bootstrap& bootstrap,
                                                       const base::Config& config) {
  if (auto checked = check_bootstrap(bootstrap); !checked) return checked.error();
  auto inbox = Inbox::create();
  if (!inbox) return inbox.error();
  auto watch = Watch::create();
  if (!watch) return watch.error();
  auto card = own_card();
  if (!card) return card.error();
  std::unique_ptr<CallbackBoot> boot(
      new CallbackBoot(bootstrap, std::move(*inbox), std::move(*watch)));
  // Bound before the cards go out: a quick peer may write at once.
  if (auto bound = boot->bind_socket(*card); !bound) return bound.error();
  if (auto introduced = boot->introduce(*card, config); !introduced) return introduced.error();
  return std::unique_ptr<Boot>(std::move(boot));
}

base::Result<> CallbackBoot::bind_socket(const Card& own) {
  socket_.reset(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_) return base::system_error("socket for messages between ranks");
  const int on = 1;
  if (::setsockopt(socket_.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) < 0) {
    return base::system_error("SO_PASSCRED on the socket for messages between ranks");
  }
  const MailboxName address = mailbox_name(own);
  if (::bind(socket_.get(), address.get(), address.size_bytes) < 0) {
    return base::system_error("binding the socket for messages between ranks");
  }
  if (auto added = watch_.add(inbox_.fd(), EPOLLIN, kInboxTag); !added) return added;
  return watch_.add(socket_.get(), EPOLLIN, kSocketTag);
}

base::Result<> CallbackBoot::introduce(const Card& own, const base::Config& config) {
  own_ = own;
  auto cards = exchange_cards(bootstrap_, own);
  if (!cards) return cards.error();
  secret_ = (*cards)[0].nonce;
  auto hosts = exchange_hosts(bootstrap_, *cards);
  if (!hosts) return hosts.error();
  known_.resize(size());
  for (Rank one = 0; one < size(); ++one) {
    const Card& card = (*cards)[one];
    const bool near = (*hosts)[one] == (*hosts)[rank()];
    if (near) ++local_size_;
    known_[one] = {card.name, card.start_ticks, card.pid, near,
                   near && card.pid_namespace == own.pid_namespace};
  }
  const Rank first = hosts->front();
  const bool one_host = std::ranges::all_of(*hosts, [first](Rank host) { return host == first; });
  return one_host ? base::Result<>{} : open_messenger(config);
}

base::Result<> CallbackBoot::open_messenger(const base::Config& config) {
  auto opened = Messenger::open(config, {rank(), size()}, watch_, inbox_);
  auto addresses = exchange_addresses(
      bootstrap_, opened ? base::Result<Address>((*opened)->address()) : opened.error());
  if (!addresses) return addresses.error();
  messenger_ = std::move(*opened);
  return messenger_->begin(secret_, std::move(*addresses));
}

// The card of a rank, as far as it was kept.
Card CallbackBoot::card_of(Rank rank) const {
  Card card = own_;
  const Known& known = known_[rank];
  if (!known.same_pids) card.pid_namespace = 0;
  card.name = known.name;
  card.start_ticks = known.start_ticks;
  card.pid = known.pid;
  return card;
}

bool CallbackBoot::is_gone(Rank rank) const {
  const auto peer = peers_.find(rank);
  return peer != peers_.end() && peer->second.seen == Seen::gone;
}

base::Result<bool> CallbackBoot::send(Rank to, std::span<const std::byte> bytes,
                                      std::span<const int> fds) {
  if (auto checked = check_message({to, size()}, bytes.size(), fds.size()); !checked) {
    return checked.error();
  }
  if (!passes_descriptors(to)) {
    if (!fds.empty()) return other_host(to);
    return messenger_->send(to, bytes);
  }
  if (auto met = meet(to); !met) return met.error();
  return post(to, Kind::message, {.body = bytes, .fds = fds});
}

// Puts our header before the packet's body. False: the rank is gone.
base::Result<bool> CallbackBoot::post(Rank to, Kind kind, const Packet& packet) {
  Peer& peer = peers_[to];
  if (peer.seen == Seen::gone) return false;
  if (auto connected = connect_to(to); !connected) return connected.error();
  if (peer.seen == Seen::gone) return false;
  const DatagramHeader header{kDatagramMagic, rank(),
                              static_cast<std::uint32_t>(packet.body.size()),
                              static_cast<std::uint32_t>(kind), secret_};
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

base::Result<std::optional<Message>> CallbackBoot::receive() {
  if (inbox_.empty()) {
    for (const Ready& ready : watch_.ready()) {
      if (auto handled = handle(ready); !handled) return handled.error();
    }
  }
  return inbox_.pop();
}

base::Result<> CallbackBoot::handle(const Ready& ready) {
  if (ready.tag == kSocketTag) return drain_socket();
  if (ready.tag == kInboxTag) return {};
  if (Messenger::is_ours(ready.tag)) {
    messenger_->handle(ready);
    return {};
  }
  const Rank rank = static_cast<Rank>((ready.tag - 2) / 2);
  return ready.tag == pidfd_tag(rank) ? set_gone(rank) : flush_to(rank);
}

base::Result<> CallbackBoot::flush_to(Rank to) {
  Peer& peer = peers_[to];
  if (peer.seen == Seen::gone) return {};  // an earlier event of the same batch said so
  const auto sent = peer.outbox.flush(peer.socket.get());
  if (!sent) return sent.error();
  if (*sent == Sent::gone) return set_refused(to);
  if (*sent == Sent::taken) watch_.remove(peer.socket.get());
  return {};
}

base::Result<> CallbackBoot::connect_to(Rank to) {
  Peer& peer = peers_[to];
  if (peer.socket) return {};
  peer.socket.reset(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!peer.socket) return base::system_error("socket for messages to a rank");
  const MailboxName address = mailbox_name(card_of(to));
  if (::connect(peer.socket.get(), address.get(), address.size_bytes) == 0) return {};
  if (errno == ECONNREFUSED) return set_refused(to);
  base::Error error = base::system_error("connecting to the socket of rank " + std::to_string(to));
  error.rank = to;
  return error;
}

// From the first message in either direction on, its end is news.
base::Result<> CallbackBoot::meet(Rank rank) {
  Peer& peer = peers_[rank];
  if (peer.seen != Seen::silent) return {};
  peer.seen = Seen::known;
  Process process = watch_process(own_, card_of(rank));
  if (process.state == Process::State::ended) return set_gone(rank);
  peer.pidfd = std::move(process.pidfd);
  return peer.pidfd ? watch_.add(peer.pidfd.get(), EPOLLIN, pidfd_tag(rank)) : base::Result<>{};
}

base::Result<> CallbackBoot::set_gone(Rank rank) {
  Peer& peer = peers_[rank];
  if (peer.seen == Seen::gone) return {};
  // What it sent before it ended lies in our socket already: datagrams are delivered on sending.
  if (auto drained = drain_socket(); !drained) return drained;
  if (peer.seen == Seen::gone) return {};  // a farewell was among it
  if (peer.pidfd) watch_.remove(peer.pidfd.get());
  if (!peer.outbox.empty()) watch_.remove(peer.socket.get());
  peer.seen = Seen::gone;
  peer.pidfd.reset();
  peer.socket.reset();
  peer.outbox = {};
  inbox_.push({.kind = Message::Kind::gone, .from = rank});
  return {};
}

// Its socket takes nothing: closed by a process that lives on, it was closed in order. A process
// that was killed closes it too, before its pidfd tells of the end: so it is asked whether it is
// ending, and only then whether it has ended.
base::Result<> CallbackBoot::set_refused(Rank rank) {
  Peer& peer = peers_[rank];
  pollfd process{.fd = peer.pidfd.get(), .events = POLLIN, .revents = 0};
  const bool ours = known_[rank].pid == own_.pid && known_[rank].same_pids;
  const bool lives = peer.pidfd && !is_exiting(known_[rank].pid) && ::poll(&process, 1, 0) == 0;
  if (ours || lives) peer.left = true;
  return set_gone(rank);
}

base::Result<> CallbackBoot::leave() {
  if (std::exchange(leaving_, true)) return {};
  // From here on senders are refused; what came before is still there, and is answered.
  (void)::shutdown(socket_.get(), SHUT_RD);
  if (auto drained = drain_socket(); !drained) return drained;
  watch_.remove(socket_.get());
  base::Result<> outcome;  // of the first who cannot be told; all others are
  while (const auto message = inbox_.pop()) {
    if (message->kind == Message::Kind::gone || !passes_descriptors(message->from)) continue;
    auto told = post(message->from, Kind::farewell, {});
    if (!told && outcome) outcome = told.error();
  }
  if (messenger_) messenger_->leave();
  return outcome;
}

base::Result<> CallbackBoot::drain_socket() {
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
    if (sender && (peers_[*sender].seen == Seen::silent || peers_[*sender].left))
      senders.push_back(*sender);
  }
  for (const Rank sender : senders) {
    auto noted = peers_[sender].left ? set_gone(sender) : meet(sender);
    if (!noted) return noted;
  }
  return {};
}

// The sender, if the packet is a message of this job; it is in the inbox then.
std::optional<Rank> CallbackBoot::accept(Arrival arrival, std::span<const std::byte> packet) {
  DatagramHeader header;
  if (arrival.truncated || packet.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, packet.data(), sizeof header);
  const std::span<const std::byte> body = packet.subspan(sizeof header);
  const bool authentic = header.magic == kDatagramMagic && header.from < size() &&
                         equal_secrets(header.secret, secret_) && arrival.sender &&
                         arrival.sender->uid == own_.uid;
  if (!authentic || body.size() != header.body_bytes || body.size() > kMaxMessageBytes ||
      arrival.fds.size() > kMaxMessageFds || is_gone(header.from)) {
    return std::nullopt;
  }
  if (header.kind == static_cast<std::uint32_t>(Kind::farewell)) {
    peers_[header.from].left = true;
    return header.from;
  }
  inbox_.push(
      {.from = header.from, .bytes = {body.begin(), body.end()}, .fds = std::move(arrival.fds)});
  return header.from;
}

base::Result<> CallbackBoot::allgather(std::span<const std::byte> mine, std::span<std::byte> all,
                                       const std::function<void()>& serve) {
  if (auto checked = check_gather(mine.size(), all.size(), size()); !checked) return checked;
  return collect("allgather", serve, [&] {
    return bootstrap_.allgather(bootstrap_.user, mine.data(), all.data(), mine.size());
  });
}

base::Result<> CallbackBoot::barrier(const std::function<void()>& serve) {
  return collect("barrier", serve, [this] { return bootstrap_.barrier(bootstrap_.user); });
}

base::Result<> CallbackBoot::collect(const char* name, const std::function<void()>& serve,
                                     const std::function<int()>& callback) {
  std::optional<Meanwhile> meanwhile;
  if (serve && size() > 1) meanwhile.emplace(serve);
  const int status = callback();
  if (meanwhile) meanwhile->end();
  if (status != 0) return callback_failed(name, status);
  return {};
}

bool CallbackBoot::sends_wait() const {
  if (messenger_ && !messenger_->idle()) return true;
  return std::ranges::any_of(peers_,
                             [](const auto& entry) { return !entry.second.outbox.empty(); });
}

}  // namespace photon::boot
