#include "boot/tries.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

#include "base/resource_limits.hpp"

namespace photon::boot {

namespace {

constexpr std::int64_t kBriefNs = 2'000'000'000;  // the kernel asks twice in it

// The less, the more it helps to try again.
int hopelessness(int trouble) noexcept {
  if (trouble == Tries::kSilent) return 0;  // it may compute
  if (trouble == Tries::kStranger) return 3;
  return trouble == ECONNREFUSED ? 2 : 1;
}

}  // namespace

Tries::Tries(const Addresses& theirs, const Here& here) {
  const auto has_family = [&](const Address& address) {
    return std::ranges::any_of(here.ours.all(),
                               [&](const Address& one) { return one.family == address.family; });
  };
  const auto doubt = [&](const Address& address) {
    if (here.met && here.met->is_same_host(address)) return 0;
    if (!has_family(address)) return 3;
    return !here.is_near && here.ours.has_host(address) ? 2 : 1;
  };
  for (int level = 0; level <= 3; ++level)
    for (const Address& address : theirs.all()) {
      if (doubt(address) != level) continue;
      is_sure_[count()] =
          level == 0 || (here.is_near && here.ours.has_host(address)) ||
          (here.launchers_met && level == 1 && address.is_same_host(theirs.front()));
      order_.add(address);
    }
}

bool Tries::next(int trouble) noexcept {
  troubles_[at_] = trouble;
  at_ = has_more() ? at_ + 1 : 0;
  return at_ != 0;
}

int Tries::trouble() const noexcept {
  const auto tried = std::span(troubles_).first(std::max<std::size_t>(count(), 1));
  return *std::ranges::min_element(tried, {}, hopelessness);
}

bool Tries::may_compute() const noexcept {
  std::size_t silent_count = 0;
  bool is_sure = false;
  for (std::size_t i = 0; i < count(); ++i) {
    if (troubles_[i] != kSilent) continue;
    ++silent_count;
    is_sure = is_sure || is_sure_[i];
  }
  return is_sure || (silent_count != 0 && silent_count == count());
}

bool Tries::is_hurried() const noexcept {
  if (count() <= 1) return false;
  const bool was_silent = troubles_[at_] == kSilent;
  return !was_silent || !may_compute() || (!is_sure_[at_] && has_more());
}

std::string Tries::text() const {
  std::string text;
  for (std::size_t i = 0; i < count(); ++i) {
    if (i != 0) text += "; ";
    text += order_.list[i].text() + ": " + trouble_text(troubles_[i]);
  }
  return text;
}

std::int64_t patience_ns(const Tries& tries, std::int64_t otherwise_ns) noexcept {
  const auto count = static_cast<std::int64_t>(tries.order().all().size());
  return tries.has_more() ? std::min(kBriefNs, otherwise_ns / count) : otherwise_ns;
}

std::int64_t deadline_ns(std::int64_t now_ns, std::int64_t patience_ns,
                         std::int64_t latest_ns) noexcept {
  constexpr std::int64_t kLeastNs = 1'000'000'000;
  const std::int64_t least_ns = now_ns + std::min(patience_ns, kLeastNs);
  return std::max(std::min(now_ns + patience_ns, latest_ns), least_ns);
}

int trouble_errno(int trouble) noexcept {
  if (trouble == Tries::kSilent) return ETIMEDOUT;
  return trouble == Tries::kNoPort ? EADDRNOTAVAIL : std::max(trouble, 0);
}

std::string trouble_text(int trouble) {
  if (trouble == 0) return "not tried";
  if (trouble == Tries::kStranger) return "who answers there cannot prove to be it";
  if (trouble == Tries::kSilent) return "who answers there says nothing";
  if (trouble == Tries::kNoPort) return "no port for the connection" + base::ports_advice();
  if (trouble == EADDRNOTAVAIL)
    return std::string(std::strerror(trouble)) +
           ": this host has none from which it can be reached";
  const char* const what = trouble == EMFILE || trouble == ENFILE ? "no socket for it: " : "";
  return what + std::string(std::strerror(trouble));
}

// Ports of UDP are others: where it has an address of ours to send from, TCP lacks but the port.
int begin_connection(int socket, const Address& to) noexcept {
  const SocketAddress at = socket_address(to);
  if (::connect(socket, at.get(), at.size_bytes) == 0 || errno == EINPROGRESS) return 0;
  const int trouble = errno;
  if (trouble != EADDRNOTAVAIL) return trouble;
  const base::UniqueFd other(::socket(at.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const bool has_address = other && ::connect(other.get(), at.get(), at.size_bytes) == 0;
  return has_address ? Tries::kNoPort : trouble;
}

bool is_connected(int socket) noexcept {
  pollfd entry{.fd = socket, .events = POLLOUT, .revents = 0};
  return ::poll(&entry, 1, 0) == 1;
}

bool is_connected_to_itself(int socket) noexcept {
  const Address own = own_end(socket);
  const Address other = other_end(socket);
  return own.is_same_host(other) && own.port == other.port;
}

}  // namespace photon::boot
