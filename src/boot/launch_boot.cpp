#include "boot/launch_boot.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/finally.hpp"
#include "base/resource_limits.hpp"
#include "boot/launch_claim.hpp"
#include "boot/limits.hpp"

namespace photon::boot {
namespace {

constexpr std::int64_t kWelcomeTimeoutNs = 30'000'000'000;
constexpr std::uint64_t kFromLauncher = 0;
constexpr std::uint64_t kFromInbox = 1;

std::string refusal_text(const ph_launch_refused& refused) {
  switch (refused.reason) {
    case PH_LAUNCH_WRONG_VERSION:
      return "the launcher speaks version " + std::to_string(refused.version) +
             " of the protocol, this library version " + std::to_string(PH_LAUNCH_VERSION) +
             "; use the photonrun of the same installation";
    case PH_LAUNCH_TAKEN: return "this rank's place in the job is taken";
    default: return "the launcher called a packet of this rank malformed";
  }
}

// A rank is one of its host's, and these are of the job.
bool makes_sense(const ph_launch_welcome& welcome) {
  return welcome.rank < welcome.size && welcome.local_first < welcome.size &&
         welcome.local_size <= welcome.size - welcome.local_first &&
         welcome.rank - welcome.local_first < welcome.local_size;
}

template <class T>
bool read_body(std::span<const std::byte> body, T& object) {
  if (body.size() != sizeof object) return false;
  std::memcpy(&object, body.data(), sizeof object);
  return true;
}

}  // namespace

base::Result<std::unique_ptr<Boot>> LaunchBoot::open(std::string_view fd_text,
                                                     base::TimeSource time) {
  // First: what we open ourselves may get the number of one that is not open.
  auto claimed = claim_launch_fd(fd_text);
  if (!claimed) return claimed.error();
  auto inbox = Inbox::create();
  auto watch = Watch::create();
  if (!inbox || !watch) {
    ::shutdown(claimed->fd.get(), SHUT_RDWR);  // as close_channel()
    return !inbox ? inbox.error() : watch.error();
  }
  std::unique_ptr<LaunchBoot> boot(
      new LaunchBoot(std::move(*claimed), std::move(*inbox), std::move(*watch)));
  if (auto joined = boot->join(time); !joined) return joined.error();
  return std::unique_ptr<Boot>(std::move(boot));
}

// A wrapper or a child of this process may hold the socket, too: the launcher hears of the end
// nevertheless, after what was said before.
LaunchBoot::~LaunchBoot() { close_channel(); }

void LaunchBoot::close_channel() {
  if (!socket_) return;
  ::shutdown(socket_.get(), SHUT_RDWR);
  socket_.reset();
}

base::Result<> LaunchBoot::join(base::TimeSource time) {
  buffer_.resize(sizeof(ph_launch_header) + PH_LAUNCH_MAX_GATHER + 1);
  if (auto added = watch_.add(inbox_.fd(), EPOLLIN, kFromInbox); !added) return added;
  if (auto added = watch_.add(socket_.get(), EPOLLIN, kFromLauncher); !added) return added;
  // Tells the launcher of our end even where a wrapper stands between; a kernel without it is fine.
  const base::UniqueFd self(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  const int self_number = self.get();
  const auto posted = post({.type = PH_LAUNCH_HELLO}, {},
                           std::span(&self_number, self ? std::size_t{1} : std::size_t{0}));
  if (!posted) return posted.error();
  if (auto welcome = await_welcome(time); !welcome) return welcome;
  if (!makes_sense(welcome_)) {
    return base::Error{.status = PH_ERR_BOOTSTRAP, .what = "the launcher's WELCOME makes no sense"};
  }
  std::memcpy(secret_.data(), welcome_.secret, secret_.size());
  ends_.resize(welcome_.size);
  return {};
}

base::Result<> LaunchBoot::await_welcome(base::TimeSource time) {
  const std::int64_t deadline_ns = time.now_ns() + kWelcomeTimeoutNs;
  while (welcome_.size == 0 && lost_.empty()) {
    // Of the next channel it is known that the launcher speaks: where it waits, it is for others.
    if (!is_next_ && time.now_ns() > deadline_ns) lose("the launcher does not answer");
    flush();
    pump();
    if (welcome_.size == 0 && lost_.empty()) wait_briefly(Serve::kNone);
  }
  if (!lost_.empty()) return lost_error();
  return {};
}

base::Result<Sent> LaunchBoot::post(ph_launch_header header, std::span<const std::byte> body,
                                    std::span<const int> fds) {
  header.magic = PH_LAUNCH_MAGIC;
  header.version = PH_LAUNCH_VERSION;
  header.body_bytes = static_cast<std::uint32_t>(body.size());
  auto sent = outbox_.post(socket_.get(), {.header = bytes_of(header), .body = body, .fds = fds});
  if (!sent) return sent;
  if (*sent == Sent::gone) {
    pump();  // why it closed the connection may be among what it said before
    lose("the launcher ended");
    return lost_error();
  }
  flush();
  return sent;
}

// Sends what waits, and has poll_fd() report room for as long as something does.
void LaunchBoot::flush() {
  if (!outbox_.empty()) {
    const auto sent = outbox_.flush(socket_.get());
    if (!sent) lose(sent.error().what);
    // Gone: pump() finds the end of file, after what still lies before it.
  }
  if (lost_.empty() && watches_output_ == outbox_.empty()) {
    watches_output_ = !watches_output_;
    if (auto changed = watch_.change(socket_.get(), watched_events(), kFromLauncher); !changed) {
      lose(changed.error().what);
    }
  }
}

void LaunchBoot::pump() {
  // Bounded, so that one call's work is.
  for (int i = 0; i < 64 && lost_.empty(); ++i) {
    auto arrival = receive_packet(socket_.get(), buffer_);
    if (!arrival) return lose(arrival.error().what);
    if (!*arrival) return;
    const std::size_t size_bytes = (*arrival)->size_bytes;
    if (size_bytes == 0) return lose("the launcher ended");
    if ((*arrival)->lost_descriptors) {
      return lose("a descriptor that came is lost" +
                  base::descriptors_advice(EMFILE, base::descriptors_limit()));
    }
    if (!dispatch(std::move(**arrival), std::span(buffer_).first(size_bytes))) {
      return lose("the launcher sent a malformed packet");
    }
  }
}

// False: malformed.
bool LaunchBoot::dispatch(Arrival arrival, std::span<const std::byte> packet) {
  ph_launch_header header;
  if (arrival.truncated || packet.size() < sizeof header) return false;
  std::memcpy(&header, packet.data(), sizeof header);
  const std::span<const std::byte> body = packet.subspan(sizeof header);
  if (header.magic != PH_LAUNCH_MAGIC || header.body_bytes != body.size()) return false;
  if (header.type == PH_LAUNCH_REFUSED) {
    ph_launch_refused refused;
    if (!read_body(body, refused)) return false;
    if (refused.reason == PH_LAUNCH_SIZES_DIFFER) {
      if (gather_ && header.sequence == gathers_) gather_->sizes_differ = true;
    } else {
      lose(refusal_text(refused));
    }
    return true;
  }
  if (header.version != PH_LAUNCH_VERSION) return false;
  if (header.type == PH_LAUNCH_WELCOME) return take_welcome(body);
  if (welcome_.size == 0) return false;
  if (ends_.empty()) ends_.resize(welcome_.size);
  switch (header.type) {
    case PH_LAUNCH_DELIVER: return take_delivery(header, body, std::move(arrival.fds));
    case PH_LAUNCH_GATHERED: return take_contributions(header, body);
    case PH_LAUNCH_GONE: return take_end(header, body);
    default: return false;
  }
}

bool LaunchBoot::take_welcome(std::span<const std::byte> body) {
  if (welcome_.size != 0 || body.size() < sizeof welcome_) return false;
  std::memcpy(&welcome_, body.data(), sizeof welcome_);
  auto hosts = LaunchHosts::read(body.subspan(sizeof welcome_), welcome_);
  if (hosts) hosts_ = std::move(*hosts);
  return hosts.has_value();
}

bool LaunchBoot::take_delivery(const ph_launch_header& header, std::span<const std::byte> body,
                               std::vector<base::UniqueFd> fds) {
  const bool fits = body.size() <= kMaxMessageBytes && fds.size() <= kMaxMessageFds;
  if (header.rank >= ends_.size() || ends_[header.rank].gone || !fits) return false;
  inbox_.push({.from = header.rank, .bytes = {body.begin(), body.end()}, .fds = std::move(fds)});
  return true;
}

bool LaunchBoot::take_contributions(const ph_launch_header& header,
                                    std::span<const std::byte> body) {
  // A gather this rank gave up (somebody was gone) may still complete at the launcher's.
  if (!gather_ || header.sequence != gathers_) return header.sequence <= gathers_;
  const bool fits = header.rank == gather_->next && header.count > 0 &&
                    header.count <= ends_.size() - gather_->next &&
                    body.size() == header.count * gather_->size_bytes;
  if (!fits) return false;
  std::ranges::copy(body, gather_->all.begin() + gather_->next * gather_->size_bytes);
  gather_->next += header.count;
  return true;
}

bool LaunchBoot::take_end(const ph_launch_header& header, std::span<const std::byte> body) {
  ph_launch_gone end;
  if (header.rank >= ends_.size() || !read_body(body, end)) return false;
  if (ends_[header.rank].gone) return true;
  ends_[header.rank] = {.gone = true,
                        .left = end.how == PH_LAUNCH_LEFT,
                        .blamed = ends_[header.rank].blamed,
                        .gathers = header.sequence};
  inbox_.push({.kind = Message::Kind::gone, .from = header.rank});
  return true;
}

base::Result<bool> LaunchBoot::send(Rank to, std::span<const std::byte> bytes,
                                    std::span<const int> fds) {
  if (auto checked = check_message({to, size()}, bytes.size(), fds.size()); !checked) {
    return checked.error();
  }
  if (!fds.empty() && !passes_descriptors(to)) return other_host(to);
  if (!lost_.empty()) return lost_error();
  if (ends_[to].gone) return false;
  const auto sent = post({.type = PH_LAUNCH_FORWARD, .rank = to}, bytes, fds);
  if (!sent) return sent.error();
  if (*sent == Sent::full) return queue_full(to);
  return true;
}

// Where there is no room for the next channel the rank leaves all the same, for good.
base::Result<> LaunchBoot::leave() {
  if (!lost_.empty()) return lost_error();
  if (auto next = make_next_channel(socket_)) {
    const int launchers = next->launchers.get();
    const auto said = say_leave(std::span(&launchers, 1));
    if (said && *said) {
      watch_.remove(socket_.get());
      put_in_place(socket_, *next);
      return watch_.add(socket_.get(), watched_events(), kFromLauncher);
    }
  }
  if (!lost_.empty()) return lost_error();
  const auto said = say_leave({});
  if (!said) return said.error();
  return *said ? base::Result<>{} : base::Result<>(queue_full(rank()));
}

// False: there is no room in the queue, nothing was said.
base::Result<bool> LaunchBoot::say_leave(std::span<const int> fds) {
  const auto sent = post({.type = PH_LAUNCH_LEAVE}, {}, fds);
  if (!sent) return sent.error();
  return *sent != Sent::full;
}

// Past what waits in the queue: that is lost with a process that ends now, and this must not be.
// A socket that is full of other packets gets room for this one.
void LaunchBoot::blame(Rank rank) {
  if (rank >= ends_.size() || ends_[rank].blamed || !lost_.empty()) return;
  ends_[rank].blamed = true;
  const ph_launch_header header{.magic = PH_LAUNCH_MAGIC,
                                .version = PH_LAUNCH_VERSION,
                                .type = PH_LAUNCH_BLAME,
                                .body_bytes = 0,
                                .rank = rank,
                                .count = 0,
                                .reserved = 0,
                                .sequence = 0};
  const Packet packet{.header = bytes_of(header), .body = {}, .fds = {}};
  auto sent = send_packet(socket_.get(), packet);
  if (!sent || *sent != Sent::full) return;  // if the launcher is gone, nobody asks for it
  int room_bytes = 0;
  socklen_t option_bytes = sizeof room_bytes;
  ::getsockopt(socket_.get(), SOL_SOCKET, SO_SNDBUF, &room_bytes, &option_bytes);
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDBUF, &room_bytes, sizeof room_bytes);  // doubled
  sent = send_packet(socket_.get(), packet);
  if (sent && *sent == Sent::full) static_cast<void>(outbox_.post(socket_.get(), packet));
}

std::uint32_t LaunchBoot::watched_events() const {
  return watches_output_ ? EPOLLIN | EPOLLOUT : EPOLLIN;
}

base::Result<std::optional<Message>> LaunchBoot::receive() {
  if (lost_.empty()) {
    flush();
    if (inbox_.empty()) pump();
  }
  if (auto message = inbox_.pop()) return message;
  if (!lost_.empty() && !loss_told_) {
    loss_told_ = true;
    inbox_.set_readable(false);
    return lost_error();
  }
  return std::optional<Message>{};
}

base::Result<> LaunchBoot::allgather(std::span<const std::byte> mine, std::span<std::byte> all,
                                     const Serve& serve) {
  if (auto checked = check_gather(mine.size(), all.size(), size()); !checked) return checked;
  if (!lost_.empty()) return lost_error();
  Gather gather{.size_bytes = mine.size(), .all = all};
  // A rank that ended earlier is met before we contribute: the launcher waits for it for ever.
  base::Result<> result = gather_state(gather);
  if (!result) return result;
  gather_ = &gather;
  const base::Finally forget([this] { gather_ = nullptr; });  // serve() may throw
  ++gathers_;
  const auto posted = post({.type = PH_LAUNCH_GATHER, .sequence = gathers_}, mine, {});
  if (!posted) result = posted.error();
  if (posted && *posted == Sent::full) {
    --gathers_;
    result = queue_full(rank());
  }
  for (bool is_long = false; result && gather.next < size();) {
    const bool moved = serve && serve();
    flush();
    pump();
    result = gather_state(gather);
    if (result && gather.next < size() && !moved)
      is_long = wait_briefly(is_long ? serve.arm() : Serve::kNone);
  }
  return result;
}

// Can it still complete? If not, all are to blame who are missing: the first of them is known to
// the launcher only.
base::Result<> LaunchBoot::gather_state(const Gather& gather) {
  if (gather.next == ends_.size()) return {};
  if (!lost_.empty()) return lost_error();
  if (gather.sizes_differ) {
    return base::Error{.status = PH_ERR_BOOTSTRAP,
                       .what =
                           "ranks called allgather with different sizes, or one called "
                           "barrier; here " +
                           std::to_string(gather.size_bytes) + " bytes"};
  }
  const std::uint64_t number = gather_ ? gathers_ : gathers_ + 1;
  base::Result<> state;
  for (Rank peer = 0; peer < ends_.size(); ++peer) {
    if (!ends_[peer].gone || ends_[peer].gathers >= number) continue;
    blame(peer);
    if (!state) continue;
    state = base::Error{
        .status = PH_ERR_BOOTSTRAP,
        .what = "rank " + std::to_string(peer) + " ended without calling this allgather or barrier",
        .rank = peer};
  }
  return state;
}

base::Result<> LaunchBoot::barrier(const Serve& serve) { return allgather({}, {}, serve); }

// The first reason counts. Whoever met it returns it; receive() tells it once in any case, and
// poll_fd() is readable until then.
void LaunchBoot::lose(std::string why) {
  if (!lost_.empty()) return;
  lost_ = std::move(why);
  watch_.remove(socket_.get());
  close_channel();
  outbox_ = {};
  inbox_.set_readable(true);
}

base::Error LaunchBoot::lost_error() const {
  return {.status = PH_ERR_BOOTSTRAP, .what = lost_ + "; this rank is on its own"};
}

// Short, because another lane may read what we wait for. A call that is over soon needs no
// descriptor of the peers', which costs some system calls. True: it has taken long.
bool LaunchBoot::wait_briefly(int news_fd) const {
  if (news_fd == Serve::kNews) return true;
  pollfd entries[] = {{.fd = socket_.get(), .events = POLLIN, .revents = 0},
                      {.fd = news_fd, .events = POLLIN, .revents = 0}};
  if (!outbox_.empty()) entries[0].events |= POLLOUT;
  return ::poll(entries, 2, 1) == 0 || news_fd >= 0;
}

}  // namespace photon::boot
