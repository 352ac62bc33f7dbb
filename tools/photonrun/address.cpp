#include "address.hpp"

#include <fmt/format.h>
#include <netdb.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>

namespace photonrun {
namespace {

struct Found {
  std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> list{nullptr, &::freeaddrinfo};
  int error = 0;
};

Found resolve(const HostPort& place, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | flags;
  addrinfo* first = nullptr;
  Found found;
  const char* const host = place.host.empty() ? nullptr : place.host.c_str();
  found.error = ::getaddrinfo(host, place.port.c_str(), &hints, &first);
  if (found.error == 0) found.list.reset(first);
  return found;
}

std::runtime_error unknown_host(const HostPort& place, int error) {
  return std::runtime_error(fmt::format("{}: {}", place.text(), ::gai_strerror(error)));
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

Fd listen_at(const HostPort& place) {
  const Found found = resolve(place, AI_PASSIVE);
  if (found.error != 0) throw unknown_host(place, found.error);
  int number = 0;
  for (const addrinfo* one = found.list.get(); one != nullptr; one = one->ai_next) {
    Fd socket(::socket(one->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const int on = 1;  // connections of an earlier job that linger are no reason to wait
    if (socket) (void)::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (socket && ::bind(socket.get(), one->ai_addr, one->ai_addrlen) == 0 &&
        ::listen(socket.get(), SOMAXCONN) == 0) {
      return socket;
    }
    number = errno;
  }
  throw std::runtime_error(
      fmt::format("cannot listen at {}: {}", place.text(), std::strerror(number)));
}

std::string own_address(int socket) {
  sockaddr_storage address{};
  socklen_t bytes = sizeof address;
  (void)::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &bytes);
  return text_of(address, bytes, true);
}

std::string peer_address(int socket) { return peer_text(socket, true); }

std::string peer_host(int socket) { return peer_text(socket, false); }

// A datagram socket that is connected has sent nothing, but knows its own address.
std::string address_towards(const std::string& host) {
  const Found found = resolve({.host = host, .port = "9"}, 0);
  if (found.error != 0) return {};
  for (const addrinfo* one = found.list.get(); one != nullptr; one = one->ai_next) {
    const Fd socket(::socket(one->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!socket || ::connect(socket.get(), one->ai_addr, one->ai_addrlen) != 0) continue;
    sockaddr_storage address{};
    socklen_t bytes = sizeof address;
    (void)::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &bytes);
    return text_of(address, bytes, false);
  }
  return {};
}

std::vector<Target> look_up(const HostPort& place) {
  const Found found = resolve(place, 0);
  if (found.error == EAI_AGAIN) return {};
  if (found.error != 0) throw unknown_host(place, found.error);
  std::vector<Target> targets;
  for (const addrinfo* one = found.list.get(); one != nullptr; one = one->ai_next) {
    Target& target = targets.emplace_back();
    std::memcpy(&target.address, one->ai_addr, one->ai_addrlen);
    target.bytes = one->ai_addrlen;
  }
  return targets;
}

}  // namespace photonrun
