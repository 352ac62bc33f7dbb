#include "boot/net_address.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "boot/interfaces.hpp"

namespace photon::boot {

namespace {

bool is_any(const Address& address) noexcept {
  return std::ranges::all_of(address.bytes, [](std::byte one) { return one == std::byte{0}; });
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
  const auto all = interfaces();
  if (!all) return all.error();
  const InterfaceWish wish{wanted, one_host};
  auto found = choose(*all, wish);
  if (!found && wanted == "auto" && one_host) found = parse("127.0.0.1");
  if (found) {
    found->port = 0;
    return *found;
  }
  return base::Error{PH_ERR_CONFIG, 0,
                     "tcp: setting tcp_interface = \"" + std::string(wanted) +
                         (wanted == "auto" ? "\" finds no interface to use: "
                                           : "\" is no address, nor an interface to use: ") +
                         refusals(*all, wish)};
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
