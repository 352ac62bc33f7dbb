#include "look_up.hpp"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>

#include "child.hpp"

namespace photonrun {
namespace {

constexpr auto kPatience = std::chrono::seconds(3);  // then it is said what we wait for
constexpr std::size_t kMaxTargets = 64;              // of one name

struct Reply {
  int error = 0;
  std::size_t count = 0;
  std::array<Target, kMaxTargets> targets;
};

// Who asks. Not reaped before this object is gone.
class Asker {
 public:
  Asker(const HostPort& place, int flags) : pipe_(make_pipe()) {
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0) ask(place, flags, parent);
    pipe_.write.reset();
  }
  ~Asker() {
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  Asker(const Asker&) = delete;
  Asker& operator=(const Asker&) = delete;

  int fd() const { return pipe_.read.get(); }
  // When fd() is readable: it has begun to write, and does nothing else until it has written all,
  // which a pipe that is short of pages takes in parts.
  Found answer() const {
    const auto answer = std::make_unique<Reply>();
    auto* const bytes = reinterpret_cast<std::byte*>(answer.get());
    for (std::size_t there = 0; there < sizeof *answer;) {
      const ssize_t size = ::read(fd(), bytes + there, sizeof *answer - there);
      if (size < 0 && errno == EINTR) continue;
      if (size <= 0) return {.error = EAI_AGAIN, .targets = {}};  // it was killed
      there += static_cast<std::size_t>(size);
    }
    return {.error = answer->error,
            .targets = {answer->targets.begin(), answer->targets.begin() + answer->count}};
  }

 private:
  // The launcher has one thread, so that everything may be called after fork().
  [[noreturn]] void ask(const HostPort& place, int flags, pid_t parent) const {
    die_with(parent);
    const Found found = resolve(place, flags);
    const auto answer = std::make_unique<Reply>();
    answer->error = found.error;
    answer->count = std::min(found.targets.size(), kMaxTargets);
    std::copy_n(found.targets.begin(), answer->count, answer->targets.begin());
    const auto* const bytes = reinterpret_cast<const std::byte*>(answer.get());
    for (std::size_t there = 0; there < sizeof *answer;) {
      const ssize_t size = ::write(pipe_.write.get(), bytes + there, sizeof *answer - there);
      if (size < 0 && errno == EINTR) continue;
      if (size <= 0) break;
      there += static_cast<std::size_t>(size);
    }
    ::_exit(0);
  }

  Pipe pipe_;
  pid_t pid_ = -1;
};

std::string own_name() {
  char name[256] = "";
  (void)::gethostname(name, sizeof name - 1);
  return name;
}

bool is_own(const Target& target) {
  const Fd socket(::socket(target.address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return socket && ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&target.address),
                          target.bytes) == 0;
}

// Addresses of documentation, where nobody is: to connect a datagram socket sends nothing.
std::string address_of_default_way() {
  for (const char* const anywhere : {"192.0.2.1", "2001:db8::1"}) {
    const Found found = resolve({.host = anywhere, .port = "9"}, AI_NUMERICHOST);
    if (std::string own = address_towards(found.targets); !own.empty()) return own;
  }
  return {};
}

std::string address_of_a_network() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> list(first, &::freeifaddrs);
  for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
    const bool is_up = (one->ifa_flags & IFF_UP) != 0 && (one->ifa_flags & IFF_LOOPBACK) == 0;
    if (!is_up || !one->ifa_addr || one->ifa_addr->sa_family != AF_INET) continue;
    Target target{.address = {}, .bytes = sizeof(sockaddr_in)};
    std::memcpy(&target.address, one->ifa_addr, target.bytes);
    return host_of(target);
  }
  return {};
}

}  // namespace

Found look_up(const HostPort& place, int flags, const StartupWait& startup_wait,
              StartupWait::Clock::time_point until) {
  Found numeric = resolve(place, flags | AI_NUMERICHOST);  // asks nobody
  if (numeric.error != EAI_NONAME) return numeric;
  const Asker asker(place, flags);
  const auto patient_until = std::min(until, StartupWait::Clock::now() + kPatience);
  if (startup_wait.wait_for(asker.fd(), POLLIN, patient_until)) return asker.answer();
  if (patient_until < until) {
    startup_wait.say(fmt::format("waits for name servers to say where {} is", place.host));
    if (startup_wait.wait_for(asker.fd(), POLLIN, until)) return asker.answer();
  }
  return {.error = EAI_AGAIN, .targets = {}};
}

std::vector<Fd> listen_at(const HostPort& place, const StartupWait& startup_wait) {
  const Found found =
      look_up(place, AI_PASSIVE, startup_wait, StartupWait::Clock::now() + kLookUpTime);
  if (found.error != 0) throw unknown_host(place, found.error);
  Listeners made = listen_at(place, found.targets);
  for (const std::string& refusal : made.refusals) {
    startup_wait.say(fmt::format("does not listen at {}", refusal));
  }
  const Target& first = found.targets.front();
  const bool is_local = std::ranges::all_of(found.targets, is_loopback);
  if (is_local && place.host != "localhost" && place.host != host_of(first)) {
    startup_wait.say(fmt::format(
        "{} is {} here, where no other host can join: --root with an address of a network",
        place.host, host_of(first)));
  }
  return std::move(made.sockets);
}

std::string outward_address(const StartupWait& startup_wait, StartupWait::Clock::time_point until) {
  // As Debian has it, the name of a host is 127.0.1.1 on that host: not to be told to others.
  const Found named = look_up({.host = own_name(), .port = "0"}, 0, startup_wait, until);
  for (const Target& one : named.targets) {
    if (!is_loopback(one) && is_own(one)) return host_of(one);
  }
  if (std::string own = address_of_default_way(); !own.empty()) return own;
  if (std::string own = address_of_a_network(); !own.empty()) return own;
  return "127.0.0.1";
}

}  // namespace photonrun
