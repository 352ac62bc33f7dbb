#include "boot/net_address.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <ranges>
#include <utility>

#include "base/resource_limits.hpp"
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

using AskEnd = int (*)(int, sockaddr*, socklen_t*);
Address end_of(AskEnd ask, int socket) noexcept {
  sockaddr_storage got{};
  socklen_t bytes = sizeof got;
  if (ask(socket, reinterpret_cast<sockaddr*>(&got), &bytes) != 0) return {};
  return from_socket(reinterpret_cast<const sockaddr&>(got));
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

Address own_end(int socket) noexcept { return end_of(::getsockname, socket); }
Address other_end(int socket) noexcept { return end_of(::getpeername, socket); }

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

bool Address::is_same_host(const Address& other) const noexcept {
  return family == other.family && bytes == other.bytes;
}

std::span<const Address> Addresses::all() const noexcept {
  const auto none = std::ranges::find(list, 0, &Address::family);
  return {list.data(), static_cast<std::size_t>(none - list.begin())};
}

bool Addresses::add(const Address& address) noexcept {
  const std::size_t count = all().size();
  if (count == list.size()) return false;
  list[count] = address;
  return true;
}

bool Addresses::has_host(const Address& address) const noexcept {
  return std::ranges::any_of(all(), [&](const Address& one) { return one.is_same_host(address); });
}

std::string Addresses::text() const {
  std::string text;
  for (const Address& one : all()) {
    if (!text.empty()) text += ", ";
    text += one.text();
  }
  return text;
}

std::vector<Address> addresses_of(std::string_view words) {
  std::vector<Address> found;
  for (const auto word : std::views::split(words, ' '))
    if (const auto one = parse({word.begin(), word.end()})) found.push_back(*one);
  return found;
}

base::Result<Addresses> choose_addresses(const AddressWish& wish) {
  const std::string quoted = "tcp: setting tcp_interface = \"" + std::string(wish.wanted) + "\" ";
  Addresses found;
  if (const auto given = parse(wish.wanted)) {
    if (!is_any(*given) && found.add(*given)) return found;
    return base::Error{PH_ERR_CONFIG, 0,
                       quoted +
                           "is no address that other ranks could be told; name one of this "
                           "host, or an interface",
                       PH_ANY_RANK};
  }
  auto all = interfaces();
  if (!all && base::is_call_refused(all.error().native_errno)) {
    if (wish.wanted == "auto" && wish.one_host && found.add(*parse("127.0.0.1"))) return found;
    all.error().what += "; an address needs no list: PHOTON_TCP_INTERFACE=10.0.0.1, for one";
  }
  if (!all) return all.error();
  const InterfaceWish interface {
    wish.wanted, wish.one_host
  };
  for (Address one : choose(*all, interface, addresses_of(wish.preferred))) {
    one.port = 0;
    if (!found.add(one)) break;
  }
  if (found.empty() && wish.wanted == "auto" && wish.one_host) found.add(*parse("127.0.0.1"));
  if (!found.empty()) return found;
  return base::Error{PH_ERR_CONFIG, 0,
                     quoted +
                         (wish.wanted == "auto" ? "finds no interface to use: "
                                                : "is no address, nor an interface to use: ") +
                         refusals(*all, interface)};
}

base::Result<Address> choose_address(std::string_view wanted, bool one_host) {
  const auto all = choose_addresses({wanted, one_host});
  if (!all) return all.error();
  return all->front();
}

namespace {

// From errno: of ports that are used up or a sandbox no setting is to blame, of the rest the
// address.
base::Error listening_error(const Address& address) {
  const int number = errno;
  const bool has_no_port = number == EADDRINUSE && address.port == 0;
  const bool is_settings = !has_no_port && number != EPERM && number != ENOSYS;
  errno = number;
  base::Error error = base::system_error("tcp: listening at " + address.text() +
                                         (is_settings ? " (setting tcp_interface)" : ""));
  if (has_no_port) error.what += base::ports_advice();
  if (is_settings) error.status = PH_ERR_CONFIG;
  return error;
}

}  // namespace

base::Result<Listener> listen_at(const Address& address) {
  const SocketAddress at = socket_address(address);
  Listener made;
  made.socket.reset(::socket(at.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!made.socket) return base::system_error("tcp: a socket to listen at");
  if (::bind(made.socket.get(), at.get(), at.size_bytes) != 0 ||
      ::listen(made.socket.get(), SOMAXCONN) != 0) {
    return listening_error(address);
  }
  made.address = own_end(made.socket.get());
  if (made.address.family == 0)
    return base::system_error("tcp: asking for the port that is listened at");
  return made;
}

base::Result<Listeners> listen_at_all(const Addresses& addresses) {
  Listeners made;
  base::Error first;
  for (const Address& address : addresses.all()) {
    auto one = listen_at(address);
    if (one) {
      made.addresses.add(one->address);
      made.all.push_back(std::move(*one));
    } else if (first.what.empty()) {
      first = std::move(one.error());
    }
  }
  if (made.all.empty()) return first;
  return made;
}

}  // namespace photon::boot
