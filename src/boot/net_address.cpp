#include "boot/net_address.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

namespace photon::boot {

namespace {

struct Interface {
  std::string name;
  bool is_loopback = false;
  Address address;
};

bool is_link_local(const Address& address) noexcept {
  return address.family == 6 && address.bytes[0] == std::byte{0xfe} &&
         (address.bytes[1] & std::byte{0xc0}) == std::byte{0x80};
}

bool is_any(const Address& address) noexcept {
  return std::ranges::all_of(address.bytes, [](std::byte one) { return one == std::byte{0}; });
}

// Those that are up, in the system's order.
base::Result<std::vector<Interface>> interfaces_up() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return base::system_error("list the network interfaces");
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(first, &::freeifaddrs);
  std::vector<Interface> found;
  for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || (one->ifa_flags & IFF_UP) == 0) continue;
    const Address address = from_socket(*one->ifa_addr);
    if (address.family == 0) continue;
    found.push_back({one->ifa_name, (one->ifa_flags & IFF_LOOPBACK) != 0, address});
  }
  return found;
}

std::optional<Address> parse(std::string_view text) {
  const std::string copy(text);
  Address address;
  if (::inet_pton(AF_INET, copy.c_str(), address.bytes.data()) == 1) {
    address.family = 4;
    return address;
  }
  address = {};
  if (::inet_pton(AF_INET6, copy.c_str(), address.bytes.data()) != 1) return std::nullopt;
  address.family = 6;
  return address;
}

// Of those that are meant the first of IPv4, else the first of IPv6 that other hosts can use.
std::optional<Address> best(const std::vector<Interface>& all, const auto& is_meant) {
  for (const unsigned family : {4U, 6U})
    for (const Interface& one : all)
      if (is_meant(one) && one.address.family == family && !is_link_local(one.address))
        return one.address;
  return std::nullopt;
}

std::string names(const std::vector<Interface>& all) {
  std::string text;
  for (const Interface& one : all) {
    const std::string host = one.address.text();
    text += (text.empty() ? "" : ", ") + one.name + " " + host.substr(0, host.rfind(':'));
  }
  return text.empty() ? "none" : text;
}

}  // namespace

SocketAddress socket_address(const Address& address) noexcept {
  SocketAddress made;
  if (address.family == 4) {
    auto* to = reinterpret_cast<sockaddr_in*>(&made.storage);
    to->sin_family = AF_INET;
    to->sin_port = htons(address.port);
    std::memcpy(&to->sin_addr, address.bytes.data(), sizeof to->sin_addr);
    made.size_bytes = sizeof *to;
  } else if (address.family == 6) {
    auto* to = reinterpret_cast<sockaddr_in6*>(&made.storage);
    to->sin6_family = AF_INET6;
    to->sin6_port = htons(address.port);
    to->sin6_scope_id = address.scope;
    std::memcpy(&to->sin6_addr, address.bytes.data(), sizeof to->sin6_addr);
    made.size_bytes = sizeof *to;
  }
  return made;
}

Address from_socket(const sockaddr& address) noexcept {
  Address made;
  if (address.sa_family == AF_INET) {
    const auto& from = reinterpret_cast<const sockaddr_in&>(address);
    made.family = 4;
    made.port = ntohs(from.sin_port);
    std::memcpy(made.bytes.data(), &from.sin_addr, sizeof from.sin_addr);
  } else if (address.sa_family == AF_INET6) {
    const auto& from = reinterpret_cast<const sockaddr_in6&>(address);
    made.family = 6;
    made.port = ntohs(from.sin6_port);
    made.scope = from.sin6_scope_id;
    std::memcpy(made.bytes.data(), &from.sin6_addr, sizeof from.sin6_addr);
  }
  return made;
}

bool Address::is_loopback() const noexcept {
  if (family == 4) return bytes[0] == std::byte{127};
  return family == 6 && std::count(bytes.begin(), bytes.end(), std::byte{0}) == 15 &&
         bytes[15] == std::byte{1};
}

std::string Address::text() const {
  char host[INET6_ADDRSTRLEN] = "?";
  ::inet_ntop(family == 6 ? AF_INET6 : AF_INET, bytes.data(), host, sizeof host);
  const std::string port_text = ":" + std::to_string(port);
  return family == 6 ? "[" + std::string(host) + "]" + port_text : host + port_text;
}

base::Result<Address> choose_address(std::string_view wanted, bool one_host) {
  if (const auto given = parse(wanted)) {
    if (!is_any(*given)) return *given;
    return base::Error{PH_ERR_CONFIG, 0,
                       "tcp: setting tcp_interface = \"" + std::string(wanted) +
                           "\" is no address that other ranks could be told; name one of this "
                           "host, or an interface",
                       PH_ANY_RANK};
  }
  auto all = interfaces_up();
  if (!all) return std::move(all.error());
  const bool is_auto = wanted == "auto";
  auto found = best(*all, [&](const Interface& one) {
    return is_auto ? one.is_loopback == one_host : one.name == wanted;
  });
  if (!found && is_auto && one_host) found = parse("127.0.0.1");
  if (found) {
    found->port = 0;
    return *found;
  }
  return base::Error{PH_ERR_CONFIG, 0,
                     "tcp: setting tcp_interface = \"" + std::string(wanted) +
                         "\" names no interface that is up and has an address, and is no address "
                         "itself; up are: " +
                         names(*all)};
}

base::Result<Listener> listen_at(const Address& address) {
  const SocketAddress at = socket_address(address);
  Listener made;
  made.socket.reset(::socket(at.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!made.socket) return base::system_error("tcp: a socket to listen at");
  if (::bind(made.socket.get(), at.get(), at.size_bytes) != 0 ||
      ::listen(made.socket.get(), SOMAXCONN) != 0) {
    base::Error error =
        base::system_error("tcp: listening at " + address.text() + " (setting tcp_interface)");
    error.status = PH_ERR_CONFIG;
    return error;
  }
  sockaddr_storage got{};
  socklen_t bytes = sizeof got;
  if (::getsockname(made.socket.get(), reinterpret_cast<sockaddr*>(&got), &bytes) != 0)
    return base::system_error("tcp: asking for the port that is listened at");
  made.address = from_socket(reinterpret_cast<const sockaddr&>(got));
  return made;
}

}  // namespace photon::boot
