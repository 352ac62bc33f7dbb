#include "host_acceptor.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "host_connection.hpp"

namespace photonrun {
namespace {

constexpr auto kPendingTime = std::chrono::seconds(10);
constexpr auto kPause = std::chrono::milliseconds(100);
constexpr unsigned kMaxLines = 20;  // about refusals: a scanner must not fill a terminal

}  // namespace

HostAcceptor::HostAcceptor(std::vector<Fd> listeners, std::string key, unsigned wanted_ranks,
                           const StartupWait& startup_wait)
    : listeners_(std::move(listeners)),
      key_(std::move(key)),
      wanted_(wanted_ranks),
      startup_wait_(startup_wait) {}

HostAcceptor::HostAcceptor(std::vector<Fd> listeners, std::string key, std::vector<Seat> seats,
                           Attendant& attendant, const StartupWait& startup_wait)
    : listeners_(std::move(listeners)),
      key_(std::move(key)),
      wanted_(0),
      seats_(std::move(seats)),
      attendant_(&attendant),
      startup_wait_(startup_wait) {
  for (const Seat& seat : seats_) wanted_ += seat.ranks;
}

std::vector<Joined> HostAcceptor::run(double wait_s) {
  const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(wait_s));
  if (missing() > 0 && seats_.empty()) {
    startup_wait_.say(fmt::format("waiting at {} for {} more rank{}", places(), missing(),
                                  missing() == 1 ? "" : "s"));
  }
  while (missing() > 0) {
    if (!turn(until)) throw std::runtime_error(absence(wait_s));
  }
  std::ranges::stable_sort(joined_, {}, &Joined::seat);
  return std::move(joined_);
}

// False: the time is up.
bool HostAcceptor::turn(Clock::time_point until) {
  auto next = until;
  for (const PendingConnection& pending : pending_) next = std::min(next, pending.deadline);
  const bool listens = Clock::now() >= listens_again_;
  if (!listens) next = std::min(next, listens_again_);
  std::vector<pollfd> entries;
  for (const Fd& one : listeners_) entries.push_back({listens ? one.get() : -1, POLLIN, 0});
  for (const auto& one : joined_) entries.push_back({one.socket.get(), POLLIN, 0});
  for (const auto& one : pending_) entries.push_back({one.socket.get(), POLLIN, 0});
  if (attendant_) attendant_->want(entries);
  startup_wait_.wait(entries, next);
  if (attendant_) attendant_->handle(entries);
  const auto now = Clock::now();
  std::size_t at = listeners_.size();
  const std::size_t joined_count = joined_.size();  // a pending connection may become the next
  for (std::size_t i = 0; i < joined_count; ++i) {
    if (entries[at++].revents != 0) look_after(joined_[i]);
  }
  for (PendingConnection& pending : pending_) {
    if (entries[at++].revents != 0) serve(pending);
    if (!pending.is_over && now >= pending.deadline) refuse(pending, "said not who it is");
  }
  std::erase_if(pending_, [](const PendingConnection& pending) { return pending.is_over; });
  std::erase_if(joined_, [](const Joined& one) { return !one.socket; });
  for (std::size_t i = 0; i < listeners_.size(); ++i) {
    if (entries[i].revents != 0) accept_pending(listeners_[i].get());
  }
  return now < until || missing() == 0;
}

void HostAcceptor::accept_pending(int listener) {
  // Not so many that one makes room for another before it was looked at once.
  for (std::size_t taken = 0; taken < kMinPending / 2; ++taken) {
    Fd socket(::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) {
      if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return;
      // No descriptor, no memory: whoever waits in the queue would wake us again and again.
      make_room();
      listens_again_ = Clock::now() + kPause;
      return;
    }
    if (pending_.size() >= pending_limit(wanted_)) make_room();
    make_host_socket(socket.get());
    std::string from = peer_address(socket.get());
    pending_.push_back({.socket = std::move(socket),
                        .from = std::move(from),
                        .deadline = Clock::now() + kPendingTime,
                        .is_challenged = false,
                        .heard = {},
                        .hello = {},
                        .nonce = {},
                        .is_over = false});
  }
}

void HostAcceptor::make_room() {
  if (pending_.empty()) return;
  refuse(pending_.front(), "had to make room for others that had not said who they are");
  pending_.erase(pending_.begin());
}

void HostAcceptor::serve(PendingConnection& pending) {
  const std::size_t wanted = pending.is_challenged ? sizeof(Proof) : sizeof(Hello);
  std::byte buffer[sizeof(Hello)];
  const ssize_t got =
      ::recv(pending.socket.get(), buffer, wanted - pending.heard.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return refuse(pending, "hung up before it had said who it is");
  pending.heard.insert(pending.heard.end(), buffer, buffer + got);
  // Nonsense shorter than a hello would else have us wait for the rest.
  const std::size_t begin = std::min(pending.heard.size(), sizeof kHostMagic);
  if (!pending.is_challenged && std::memcmp(pending.heard.data(), &kHostMagic, begin) != 0) {
    return refuse(pending, "is no photonrun");
  }
  if (pending.heard.size() < wanted) return;
  pending.is_challenged ? judge(pending) : challenge(pending);
}

void HostAcceptor::challenge(PendingConnection& pending) {
  std::memcpy(&pending.hello, pending.heard.data(), sizeof pending.hello);
  pending.heard.clear();
  pending.nonce = random_nonce();
  const Challenge said{.nonce = pending.nonce};
  // Also to one of another version: it can then say so on its side.
  const bool told = say_to(pending, bytes_of(said));
  if (const std::string why = objection(pending.hello); !why.empty()) return refuse(pending, why);
  if (!told) return refuse(pending, "hung up before it had said who it is");
  pending.is_challenged = true;
}

void HostAcceptor::judge(PendingConnection& pending) {
  Proof proof{};
  std::memcpy(proof.data(), pending.heard.data(), proof.size());
  if (!is_proof(key_, claim_of(pending, Role::leaf), proof)) {
    (void)say_to(pending, bytes_of(Answer{.verdict = Verdict::wrong_key, .room = 0, .proof = {}}));
    return refuse(pending, "does not know the job's key");
  }
  Answer answer{.verdict = Verdict::welcome, .room = missing(), .proof = {}};
  if (pending.hello.ranks > answer.room || !may_sit(pending.hello))
    answer.verdict = Verdict::no_room;
  answer.proof = prove(key_, claim_of(pending, Role::root));
  const bool told = say_to(pending, bytes_of(answer));
  const std::string name =
      fmt::format("{} ({})", host_of(pending.hello), peer_host(pending.socket.get()));
  if (answer.verdict == Verdict::no_room) {
    return refuse(pending, fmt::format("({}) would bring {} ranks, {} are awaited", name,
                                       pending.hello.ranks, answer.room));
  }
  if (!told) return refuse(pending, "hung up");
  if (!seats_.empty()) return seat(pending, seats_[pending.hello.seat - 1].name);
  seat(pending, name);
  startup_wait_.say(fmt::format("{} joined with {} rank{}; {} more awaited", name,
                                pending.hello.ranks, pending.hello.ranks == 1 ? "" : "s",
                                missing()));
}

// Of a list: those that are on it, once, with the ranks that it says.
bool HostAcceptor::may_sit(const Hello& hello) const {
  if (seats_.empty()) return true;
  const bool is_taken =
      std::ranges::any_of(joined_, [&](const Joined& other) { return other.seat == hello.seat; });
  return hello.seat > 0 && hello.seat <= seats_.size() && !is_taken &&
         seats_[hello.seat - 1].ranks == hello.ranks;
}

void HostAcceptor::seat(PendingConnection& pending, std::string name) {
  pending.is_over = true;
  joined_.push_back({.socket = std::move(pending.socket),
                     .name = std::move(name),
                     .ranks = pending.hello.ranks,
                     .seat = pending.hello.seat,
                     .mask = prove(key_, claim_of(pending, Role::mask))});
  if (attendant_) attendant_->joined(pending.hello.seat);
}

Claim HostAcceptor::claim_of(const PendingConnection& pending, Role role) {
  return {.role = role, .hello = bytes_of(pending.hello), .root = pending.nonce};
}

bool HostAcceptor::say_to(PendingConnection& pending, std::span<const std::byte> bytes) {
  // Into an empty socket: it takes all or the pending connection is gone.
  return ::send(pending.socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL) ==
         static_cast<ssize_t>(bytes.size());
}

void HostAcceptor::refuse(PendingConnection& pending, const std::string& why) {
  pending.is_over = true;
  pending.socket.reset();
  if (++refused_count_ <= kMaxLines) {
    startup_wait_.say(fmt::format("refused a connection from {}, which {}", pending.from, why));
  } else if (refused_count_ == kMaxLines + 1) {
    startup_wait_.say("refuses more connections; no further lines about them");
  }
}

// Until the job begins a leaf has nothing to say: it can only leave.
void HostAcceptor::look_after(Joined& joined) {
  joined.socket.reset();
  const unsigned ranks = std::exchange(joined.ranks, 0U);
  startup_wait_.say(fmt::format("{} left again; {} more rank{} awaited", joined.name, missing(),
                                ranks == 1 ? "" : "s"));
}

unsigned HostAcceptor::missing() const {
  unsigned here = 0;
  for (const Joined& one : joined_) here += one.ranks;
  return wanted_ - here;
}

std::string HostAcceptor::places() const {
  std::string text;
  for (const Fd& one : listeners_) {
    text += fmt::format("{}{}", text.empty() ? "" : " and ", own_address(one.get()));
  }
  return text;
}

std::string HostAcceptor::absence(double waited_s) const {
  std::string who;
  for (const Joined& one : joined_) {
    who += fmt::format("{}{} with {}", who.empty() ? "" : ", ", one.name, one.ranks);
  }
  std::string absent;
  for (std::size_t i = 0; i < seats_.size(); ++i) {
    const bool is_here =
        std::ranges::any_of(joined_, [&](const Joined& one) { return one.seat == i + 1; });
    if (!is_here) absent += fmt::format("{}{}", absent.empty() ? " of " : ", ", seats_[i].name);
  }
  return fmt::format("after {} s {} of the {} ranks of other hosts are missing{}; joined: {}",
                     waited_s, missing(), wanted_, absent, who.empty() ? "nobody" : who);
}

}  // namespace photonrun
