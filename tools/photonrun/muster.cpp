#include "muster.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "trunk.hpp"

namespace photonrun {
namespace {

constexpr auto kGuestTime = std::chrono::seconds(10);
constexpr auto kPause = std::chrono::milliseconds(100);
constexpr unsigned kMaxLines = 20;  // about refusals: a scanner must not fill a terminal

}  // namespace

Muster::Muster(std::vector<Fd> listeners, std::string key, unsigned wanted_ranks,
               const Vigil& vigil)
    : listeners_(std::move(listeners)),
      key_(std::move(key)),
      wanted_(wanted_ranks),
      vigil_(vigil) {}

Muster::Muster(std::vector<Fd> listeners, std::string key, std::vector<Seat> seats,
               Attendant& attendant, const Vigil& vigil)
    : listeners_(std::move(listeners)),
      key_(std::move(key)),
      wanted_(0),
      seats_(std::move(seats)),
      attendant_(&attendant),
      vigil_(vigil) {
  for (const Seat& seat : seats_) wanted_ += seat.ranks;
}

std::vector<Joined> Muster::run(double wait_s) {
  const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(wait_s));
  if (missing() > 0 && seats_.empty()) {
    vigil_.say(fmt::format("waiting at {} for {} more rank{}", places(), missing(),
                           missing() == 1 ? "" : "s"));
  }
  while (missing() > 0) {
    if (!turn(until)) throw std::runtime_error(absence(wait_s));
  }
  std::ranges::stable_sort(joined_, {}, &Joined::seat);
  return std::move(joined_);
}

// False: the time is up.
bool Muster::turn(Clock::time_point until) {
  auto next = until;
  for (const Guest& guest : guests_) next = std::min(next, guest.deadline);
  const bool listens = Clock::now() >= listens_again_;
  if (!listens) next = std::min(next, listens_again_);
  std::vector<pollfd> entries;
  for (const Fd& one : listeners_) entries.push_back({listens ? one.get() : -1, POLLIN, 0});
  for (const auto& one : joined_) entries.push_back({one.socket.get(), POLLIN, 0});
  for (const auto& one : guests_) entries.push_back({one.socket.get(), POLLIN, 0});
  if (attendant_) attendant_->want(entries);
  vigil_.wait(entries, next);
  if (attendant_) attendant_->handle(entries);
  const auto now = Clock::now();
  std::size_t at = listeners_.size();
  const std::size_t joined_count = joined_.size();  // a guest may become the next
  for (std::size_t i = 0; i < joined_count; ++i) {
    if (entries[at++].revents != 0) look_after(joined_[i]);
  }
  for (Guest& guest : guests_) {
    if (entries[at++].revents != 0) serve(guest);
    if (!guest.is_over && now >= guest.deadline) refuse(guest, "said not who it is");
  }
  std::erase_if(guests_, [](const Guest& guest) { return guest.is_over; });
  std::erase_if(joined_, [](const Joined& one) { return !one.socket; });
  for (std::size_t i = 0; i < listeners_.size(); ++i) {
    if (entries[i].revents != 0) accept_guests(listeners_[i].get());
  }
  return now < until || missing() == 0;
}

void Muster::accept_guests(int listener) {
  // Not so many that one makes room for another before it was looked at once.
  for (std::size_t taken = 0; taken < kMinGuests / 2; ++taken) {
    Fd socket(::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) {
      if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return;
      // No descriptor, no memory: whoever waits in the queue would wake us again and again.
      make_room();
      listens_again_ = Clock::now() + kPause;
      return;
    }
    if (guests_.size() >= guests_limit(wanted_)) make_room();
    make_trunk_socket(socket.get());
    std::string from = peer_address(socket.get());
    guests_.push_back({.socket = std::move(socket),
                       .from = std::move(from),
                       .deadline = Clock::now() + kGuestTime,
                       .is_challenged = false,
                       .heard = {},
                       .hello = {},
                       .nonce = {},
                       .is_over = false});
  }
}

void Muster::make_room() {
  if (guests_.empty()) return;
  refuse(guests_.front(), "had to make room for others that had not said who they are");
  guests_.erase(guests_.begin());
}

void Muster::serve(Guest& guest) {
  const std::size_t wanted = guest.is_challenged ? sizeof(Proof) : sizeof(Hello);
  std::byte buffer[sizeof(Hello)];
  const ssize_t got = ::recv(guest.socket.get(), buffer, wanted - guest.heard.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return refuse(guest, "hung up before it had said who it is");
  guest.heard.insert(guest.heard.end(), buffer, buffer + got);
  // Nonsense shorter than a hello would else have us wait for the rest.
  const std::size_t begin = std::min(guest.heard.size(), sizeof kTrunkMagic);
  if (!guest.is_challenged && std::memcmp(guest.heard.data(), &kTrunkMagic, begin) != 0) {
    return refuse(guest, "is no photonrun");
  }
  if (guest.heard.size() < wanted) return;
  guest.is_challenged ? judge(guest) : challenge(guest);
}

void Muster::challenge(Guest& guest) {
  std::memcpy(&guest.hello, guest.heard.data(), sizeof guest.hello);
  guest.heard.clear();
  guest.nonce = random_nonce();
  const Challenge said{.nonce = guest.nonce};
  // Also to one of another version: it can then say so on its side.
  const bool told = say_to(guest, bytes_of(said));
  if (const std::string why = objection(guest.hello); !why.empty()) return refuse(guest, why);
  if (!told) return refuse(guest, "hung up before it had said who it is");
  guest.is_challenged = true;
}

void Muster::judge(Guest& guest) {
  Proof proof{};
  std::memcpy(proof.data(), guest.heard.data(), proof.size());
  if (!is_proof(key_, claim_of(guest, Role::leaf), proof)) {
    (void)say_to(guest, bytes_of(Answer{.verdict = Verdict::wrong_key, .room = 0, .proof = {}}));
    return refuse(guest, "does not know the job's key");
  }
  Answer answer{.verdict = Verdict::welcome, .room = missing(), .proof = {}};
  if (guest.hello.ranks > answer.room || !may_sit(guest.hello)) answer.verdict = Verdict::no_room;
  answer.proof = prove(key_, claim_of(guest, Role::root));
  const bool told = say_to(guest, bytes_of(answer));
  const std::string name =
      fmt::format("{} ({})", host_of(guest.hello), peer_host(guest.socket.get()));
  if (answer.verdict == Verdict::no_room) {
    return refuse(guest, fmt::format("({}) would bring {} ranks, {} are awaited", name,
                                     guest.hello.ranks, answer.room));
  }
  if (!told) return refuse(guest, "hung up");
  if (!seats_.empty()) return seat(guest, seats_[guest.hello.seat - 1].name);
  seat(guest, name);
  vigil_.say(fmt::format("{} joined with {} rank{}; {} more awaited", name, guest.hello.ranks,
                         guest.hello.ranks == 1 ? "" : "s", missing()));
}

// Of a list: those that are on it, once, with the ranks that it says.
bool Muster::may_sit(const Hello& hello) const {
  if (seats_.empty()) return true;
  const bool is_taken =
      std::ranges::any_of(joined_, [&](const Joined& other) { return other.seat == hello.seat; });
  return hello.seat > 0 && hello.seat <= seats_.size() && !is_taken &&
         seats_[hello.seat - 1].ranks == hello.ranks;
}

void Muster::seat(Guest& guest, std::string name) {
  guest.is_over = true;
  joined_.push_back({.socket = std::move(guest.socket),
                     .name = std::move(name),
                     .ranks = guest.hello.ranks,
                     .seat = guest.hello.seat,
                     .mask = prove(key_, claim_of(guest, Role::mask))});
  if (attendant_) attendant_->joined(guest.hello.seat);
}

Claim Muster::claim_of(const Guest& guest, Role role) {
  return {.role = role, .hello = bytes_of(guest.hello), .root = guest.nonce};
}

bool Muster::say_to(Guest& guest, std::span<const std::byte> bytes) {
  // Into an empty socket: it takes all or the guest is gone.
  return ::send(guest.socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL) ==
         static_cast<ssize_t>(bytes.size());
}

void Muster::refuse(Guest& guest, const std::string& why) {
  guest.is_over = true;
  guest.socket.reset();
  if (++refused_count_ <= kMaxLines) {
    vigil_.say(fmt::format("refused a connection from {}, which {}", guest.from, why));
  } else if (refused_count_ == kMaxLines + 1) {
    vigil_.say("refuses more connections; no further lines about them");
  }
}

// Until the job begins a leaf has nothing to say: it can only leave.
void Muster::look_after(Joined& joined) {
  joined.socket.reset();
  const unsigned ranks = std::exchange(joined.ranks, 0U);
  vigil_.say(fmt::format("{} left again; {} more rank{} awaited", joined.name, missing(),
                         ranks == 1 ? "" : "s"));
}

unsigned Muster::missing() const {
  unsigned here = 0;
  for (const Joined& one : joined_) here += one.ranks;
  return wanted_ - here;
}

std::string Muster::places() const {
  std::string text;
  for (const Fd& one : listeners_) {
    text += fmt::format("{}{}", text.empty() ? "" : " and ", own_address(one.get()));
  }
  return text;
}

std::string Muster::absence(double waited_s) const {
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
