#include "membership.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "host_handshake.hpp"
#include "look_up.hpp"
#include "packet.hpp"

namespace photonrun {
namespace {

using Clock = StartupWait::Clock;
constexpr auto kRetryAfter = std::chrono::milliseconds(200);
constexpr auto kConnectTime = std::chrono::seconds(3);  // of one address; then the next
constexpr auto kAnswerTime = std::chrono::seconds(10);

// A connection to the root, which is tried at one address after the other.
// Invariant: where something has failed, why() says what failed last.
class RootLine {
 public:
  RootLine(std::string place, const StartupWait& startup_wait, Clock::time_point until)
      : place_(std::move(place)), startup_wait_(startup_wait), until_(until) {}

  const std::string& place() const { return place_; }
  const std::string& why() const { return why_; }
  bool fail(std::string why) {
    why_ = std::move(why);
    return false;
  }

  bool connect_to(const Target& target) {
    socket_.reset(
        ::socket(target.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket_) return fail_with(errno);
    make_host_socket(socket_.get());
    const auto* address = reinterpret_cast<const sockaddr*>(&target.address);
    if (::connect(socket_.get(), address, target.bytes) != 0) {
      if (errno != EINPROGRESS) return fail_with(errno);
      const auto until = std::min(until_, Clock::now() + kConnectTime);
      if (!startup_wait_.wait_for(socket_.get(), POLLOUT, until)) return fail_with(ETIMEDOUT);
    }
    int number = 0;
    socklen_t bytes = sizeof number;
    (void)::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &number, &bytes);
    if (number != 0) return fail_with(number);
    // Where nobody listens, a port of our own that is by chance the same connects to itself.
    return own_address(socket_.get()) != peer_address(socket_.get()) || fail_with(ECONNREFUSED);
  }

  bool send(std::span<const std::byte> bytes) {
    return ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
               static_cast<ssize_t>(bytes.size()) ||
           fail_with(errno);
  }

  template <class T>
  bool receive(T& object) {
    const auto bytes = std::as_writable_bytes(std::span{&object, 1});
    const auto deadline = Clock::now() + kAnswerTime;
    for (std::size_t at = 0; at < bytes.size();) {
      if (!startup_wait_.wait_for(socket_.get(), POLLIN, deadline)) {
        if (Clock::now() < deadline) continue;
        throw std::runtime_error(fmt::format("who answers at {} says nothing", place_));
      }
      const ssize_t got = ::recv(socket_.get(), bytes.data() + at, bytes.size() - at, 0);
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (got <= 0) return got == 0 ? fail("it hung up") : fail_with(errno);
      at += static_cast<std::size_t>(got);
    }
    return true;
  }

  Fd take() { return std::move(socket_); }

 private:
  bool fail_with(int number) { return fail(std::strerror(number)); }

  const std::string place_;
  const StartupWait& startup_wait_;
  const Clock::time_point until_;
  Fd socket_;
  std::string why_;
};

// Who wants to get into the job: calls the root, greets it, and waits for the start.
class Applicant {
 public:
  Applicant(const Application& application, const StartupWait& startup_wait)
      : application_(application),
        startup_wait_(startup_wait),
        until_(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                  std::chrono::duration<double>(application.wait_s))),
        line_(application.root.text(), startup_wait, until_) {
    hello_.ranks = application.ranks;
    hello_.seat = application.seat;
    (void)::gethostname(hello_.host.data(), hello_.host.size() - 1);
  }

  Membership run() {
    for (bool told = false;;) {
      if (try_all()) break;
      if (Clock::now() + kRetryAfter >= until_) {
        throw std::runtime_error(
            fmt::format("cannot reach the root at {}: {}; is photonrun --root running there? (a "
                        "job that has begun takes nobody in)",
                        place(), line_.why()));
      }
      if (!told)
        startup_wait_.say(fmt::format("waiting for the root at {} ({})", place(), line_.why()));
      told = true;
      startup_wait_.wait_for(-1, 0, Clock::now() + kRetryAfter);
    }
    return await_start();
  }

 private:
  const std::string& place() const { return line_.place(); }

  bool try_all() {
    (void)line_.fail("the name cannot be looked up now");
    const Found found = look_up(application_.root, 0, startup_wait_, until_);
    if (found.error != 0 && found.error != EAI_AGAIN) {
      throw unknown_host(application_.root, found.error);
    }
    for (const Target& target : found.targets) {
      if (line_.connect_to(target) && greet()) return true;
    }
    return false;
  }

  // False: it hung up, as a root does that has more pending connections than it wants; to be tried
  // again.
  bool greet() {
    hello_.nonce = random_nonce();
    Challenge challenge;
    if (!line_.send(bytes_of(hello_)) || !line_.receive(challenge)) return false;
    if (const std::string why = objection(challenge); !why.empty()) {
      throw std::runtime_error(fmt::format("who answers at {} {}", place(), why));
    }
    nonce_ = challenge.nonce;
    Answer answer;
    const Proof proof = prove(application_.key, claim(Role::leaf));
    if (!line_.send(bytes_of(proof)) || !line_.receive(answer)) return false;
    if (answer.verdict == Verdict::wrong_key) {
      throw std::runtime_error(fmt::format(
          "the root at {} refuses: its job has another key (PHOTON_JOB_KEY, --key-file)", place()));
    }
    if (!is_proof(application_.key, claim(Role::root), answer.proof)) {
      throw std::runtime_error(
          fmt::format("who answers at {} does not know the job's key", place()));
    }
    if (answer.verdict == Verdict::no_room) {
      throw std::runtime_error(
          fmt::format("the root at {} refuses: it waits for {} more ranks, --here brings {}",
                      place(), answer.room, application_.ranks));
    }
    return true;
  }

  Claim claim(Role role) const { return {.role = role, .hello = bytes_of(hello_), .root = nonce_}; }

  Membership await_start() {
    Fd socket = line_.take();
    const std::string met = own_host(socket.get());
    auto connection = std::make_unique<HostConnection>(std::move(socket), "the root at " + place());
    for (;;) {
      std::vector<pollfd> entries;
      connection->want(entries);
      startup_wait_.wait(entries, Clock::now() + std::chrono::hours(1));
      connection->handle(entries.front());
      const auto frame = connection->next();
      if (!frame && !connection->is_lost()) continue;
      const auto start = frame ? start_of(*frame) : std::nullopt;
      if (start && start->here == application_.ranks) {
        Membership made{.connection = std::move(connection),
                        .share = {start->size, start->first, start->here},
                        .secret = start->hidden_secret,
                        .met = met};
        apply_mask(prove(application_.key, claim(Role::mask)), made.secret);
        return made;
      }
      throw std::runtime_error(fmt::format("{} ended before the job began ({})", connection->name(),
                                           connection->is_lost()
                                               ? connection->why_lost()
                                               : "it said something else than where to begin"));
    }
  }

  const Application& application_;
  const StartupWait& startup_wait_;
  const Clock::time_point until_;
  RootLine line_;
  Hello hello_;
  Nonce nonce_{};
};

}  // namespace

Membership join_job(const Application& application, const StartupWait& startup_wait) {
  return Applicant(application, startup_wait).run();
}

}  // namespace photonrun
