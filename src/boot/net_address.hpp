// Where a rank listens: an IPv4 or IPv6 address and a port, as it travels in cards, and the choice
// of the interface.
// Owner: none (values and pure functions).
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace photon::boot {

struct Address {
  std::uint16_t family = 0;  // 4 or 6
  std::uint16_t port = 0;
  std::uint32_t scope = 0;  // of an IPv6 address that is valid on one link only
  std::array<std::byte, 16> bytes{};

  bool is_loopback() const noexcept;
  std::string text() const;  // 127.0.0.1:4242, [::1]:4242
};
static_assert(std::has_unique_object_representations_v<Address>, "it travels");

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

// The address to listen at, port 0. `wanted`: auto, an interface or an address; one_host: whether
// all ranks of the job are here. PH_ERR_CONFIG says of each interface why it is not taken; so is an
// address that stands for all of a host, which is none to be told to others.
base::Result<Address> choose_address(std::string_view wanted, bool one_host);

// Bound to a port of the system's choice, and listening; nothing blocks on it.
struct Listener {
  base::UniqueFd socket;
  Address address;  // with the port
};
base::Result<Listener> listen_at(const Address& address);

}  // namespace photon::boot
