#include "address.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string_view>

namespace photonrun {
namespace {

const sockaddr* plain(const Target& target) {
  return reinterpret_cast<const sockaddr*>(&target.address);
}

in_port_t& port_of(Target& target) {
  return target.address.ss_family == AF_INET6
             ? reinterpret_cast<sockaddr_in6&>(target.address).sin6_port
             : reinterpret_cast<sockaddr_in&>(target.address).sin_port;
}

Target target_of(int socket) {
  Target target{.address = {}, .bytes = sizeof target.address};
  (void)::getsockname(socket, reinterpret_cast<sockaddr*>(&target.address), &target.bytes);
  return target;
}

// Null: errno says why.
Fd listen_at(const Target& target, bool only_six) {
  Fd socket(::socket(target.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return socket;
  const int on = 1;  // connections of an earlier job that linger are no reason to wait
  (void)::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (only_six && target.address.ss_family == AF_INET6) {
    (void)::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  }
  if (::bind(socket.get(), plain(target), target.bytes) == 0 &&
      ::listen(socket.get(), SOMAXCONN) == 0) {
    return socket;
  }
  const int number = errno;
  socket.reset();
  errno = number;
  return socket;
}

std::string text_of(const sockaddr_storage& address, socklen_t bytes, bool with_port) {
  char host[NI_MAXHOST] = "?";
  char port[NI_MAXSERV] = "?";
  (void)::getnameinfo(reinterpret_cast<const sockaddr*>(&address), bytes, host, sizeof host, port,
                      sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);
  return with_port ? HostPort{host, port}.text() : host;
}

std::string peer_text(int socket, bool with_port) {
  sockaddr_storage address{};
  socklen_t bytes = sizeof address;
  (void)::getpeername(socket, reinterpret_cast<sockaddr*>(&address), &bytes);
  return text_of(address, bytes, with_port);
}

}  // namespace

std::string HostPort::text() const {
  return host.find(':') == std::string::npos ? host + ":" + port : "[" + host + "]:" + port;
}

std::string objection(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const std::string_view port = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  const std::string_view host = text.substr(0, std::min(colon, text.size()));
  const bool digits = !port.empty() && port.size() <= 5 && std::ranges::all_of(port, [](char one) {
    return std::isdigit(static_cast<unsigned char>(one)) != 0;
  });
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  const bool plain = host.find_first_of(":[]") == std::string_view::npos;
  if (digits && std::stoi(std::string(port)) <= 65535 && (bracketed || plain)) return {};
  return fmt::format("{} is not HOST:PORT (an IPv6 address in brackets: [::1]:7000)", text);
}

HostPort parse_host_port(std::string_view text) {
  if (const std::string why = objection(text); !why.empty()) throw std::runtime_error(why);
  const std::size_t colon = text.rfind(':');
  std::string_view host = text.substr(0, colon);
  if (!host.empty() && host.front() == '[') host = host.substr(1, host.size() - 2);
  return {std::string(host), std::string(text.substr(colon + 1))};
}

Found resolve(const HostPort& place, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | flags;
  addrinfo* first = nullptr;
  Found found;
  const char* const host = place.host.empty() ? nullptr : place.host.c_str();
  found.error = ::getaddrinfo(host, place.port.c_str(), &hints, &first);
  if (found.error != 0) return found;
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> list(first, &::freeaddrinfo);
  for (const addrinfo* one = first; one != nullptr; one = one->ai_next) {
    Target target;
    std::memcpy(&target.address, one->ai_addr, one->ai_addrlen);
    target.bytes = one->ai_addrlen;
    const bool is_twice = std::ranges::any_of(found.targets, [&](const Target& other) {
      return other.bytes == target.bytes &&
             std::memcmp(&other.address, &target.address, target.bytes) == 0;
    });
    if (!is_twice) found.targets.push_back(target);
  }
  return found;
}

std::runtime_error unknown_host(const HostPort& place, int error) {
  return std::runtime_error(fmt::format("{}: {}", place.text(), ::gai_strerror(error)));
}

Listeners listen_at(const HostPort& place, const std::vector<Target>& targets) {
  const bool has_four = std::ranges::any_of(
      targets, [](const Target& one) { return one.address.ss_family == AF_INET; });
  Listeners made;
  int number = EADDRNOTAVAIL;
  for (Target target : targets) {
    if (!made.sockets.empty()) {  // of port 0: the port that the first one found
      Target first = target_of(made.sockets.front().get());
      port_of(target) = port_of(first);
    }
    Fd socket = listen_at(target, has_four);
    if (socket) {
      made.sockets.push_back(std::move(socket));
      continue;
    }
    number = errno;
    const bool is_other = number == EADDRNOTAVAIL || number == EAFNOSUPPORT;  // not this host's
    if (!is_other) {
      made.refusals.push_back(fmt::format("{}: {}", text_of(target.address, target.bytes, true),
                                          std::strerror(number)));
    }
  }
  if (!made.sockets.empty()) return made;
  throw std::runtime_error(
      fmt::format("cannot listen at {}: {}", place.text(), std::strerror(number)));
}

std::string own_address(int socket) {
  const Target target = target_of(socket);
  return text_of(target.address, target.bytes, true);
}

// An IPv4 address as such, also where the socket is one of IPv6 that takes both.
std::string own_host(int socket) {
  constexpr std::string_view kMapped = "::ffff:";
  const std::string host = host_of(target_of(socket));
  return host.starts_with(kMapped) && host.find('.') != std::string::npos
             ? host.substr(kMapped.size())
             : host;
}

std::string peer_address(int socket) { return peer_text(socket, true); }

std::string peer_host(int socket) { return peer_text(socket, false); }

// A datagram socket that is connected has sent nothing, but knows its own address.
std::string address_towards(const std::vector<Target>& there) {
  for (const Target& one : there) {
    const Fd socket(::socket(one.address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!socket || ::connect(socket.get(), plain(one), one.bytes) != 0) continue;
    return host_of(target_of(socket.get()));
  }
  return {};
}

std::string host_of(const Target& target) { return text_of(target.address, target.bytes, false); }

bool is_loopback(const Target& target) {
  if (target.address.ss_family == AF_INET) {
    const auto& address = reinterpret_cast<const sockaddr_in&>(target.address);
    return ntohl(address.sin_addr.s_addr) >> IN_CLASSA_NSHIFT == IN_LOOPBACKNET;
  }
  const auto& address = reinterpret_cast<const sockaddr_in6&>(target.address);
  return IN6_IS_ADDR_LOOPBACK(&address.sin6_addr) != 0;
}

}  // namespace photonrun
