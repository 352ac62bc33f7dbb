// The addresses at which a rank listens: IPv4 or IPv6 addresses, each with a port, as they travel
// in endpoint infos, and the choice of the interfaces. Owner: none (values and pure functions).
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace photon::boot {

struct Address {
  std::uint16_t family = 0;  // 4 or 6
  std::uint16_t port = 0;
  std::uint32_t scope = 0;  // of an IPv6 address that is valid on one link only
  std::array<std::byte, 16> bytes{};

  bool is_loopback() const noexcept;
  std::string text() const;                                // 127.0.0.1:4242, [::1]:4242
  bool is_same_host(const Address& other) const noexcept;  // whatever the ports are
};
static_assert(std::has_unique_object_representations_v<Address>, "it travels");

// All of a rank, the best first. Of family 0: none, and none comes behind it.
inline constexpr std::size_t kMostAddresses = 8;
struct Addresses {
  std::array<Address, kMostAddresses> list{};

  std::span<const Address> all() const noexcept;
  bool empty() const noexcept { return list[0].family == 0; }
  const Address& front() const noexcept { return list[0]; }
  // False: there is no room.
  bool add(const Address& address) noexcept;
  bool has_host(const Address& address) const noexcept;
  std::string text() const;  // 10.0.0.1:4242, [fd00::1]:4243
};
static_assert(std::has_unique_object_representations_v<Addresses>, "it travels");

// What the socket calls take. A family that is neither: size_bytes 0.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size_bytes = 0;

  const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&storage); }
  int family() const noexcept { return storage.ss_family; }
};
SocketAddress socket_address(const Address& address) noexcept;
// Family 0: neither of the two.
Address from_socket(const sockaddr& address) noexcept;

// Of a connection; family 0: it has none.
Address own_end(int socket) noexcept;
Address other_end(int socket) noexcept;

// Which addresses are wanted: auto, an interface or an address; for auto, whether all ranks of the
// job are here, and what comes first: addresses with blanks between them, or none.
struct AddressWish {
  std::string_view wanted;
  bool one_host = false;
  std::string_view preferred = "none";
};

// The addresses to listen at, port 0. PH_ERR_CONFIG says of each interface why it is not taken; so
// is an address that stands for all of a host, which is none to be told to others.
base::Result<Addresses> choose_addresses(const AddressWish& wish);
// The first of them.
base::Result<Address> choose_address(std::string_view wanted, bool one_host);

// Bound to a port of the system's choice, and listening; nothing blocks on it.
struct Listener {
  base::UniqueFd socket;
  Address address;  // with the port
};
base::Result<Listener> listen_at(const Address& address);

// One for each address that can be listened at; fails if there is none.
struct Listeners {
  std::vector<Listener> all;
  Addresses addresses;  // with the ports
};
base::Result<Listeners> listen_at_all(const Addresses& addresses);

}  // namespace photon::boot
