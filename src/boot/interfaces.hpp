// The network interfaces of this machine, and which of them a rank listens at.
//
//   every interface -- refusal() null --> the first of IPv4, else the first of IPv6, is taken
//                   -- else -----------> named in the error with its reason, if none is left
//
// Owner: none (values and functions).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "boot/net_address.hpp"

namespace photon::boot {

struct Interface {
  std::string name;
  bool is_up = false;
  bool is_loopback = false;
  std::vector<Address> addresses;  // of IPv4 and IPv6, in the system's order
};

// Those of this network namespace, in the system's order; up or not, with addresses or not.
base::Result<std::vector<Interface>> interfaces();

// What is wanted of one: the setting tcp_interface, "auto" or a name, and for "auto" whether all
// ranks of the job are on this host.
struct InterfaceWish {
  std::string_view name;
  bool is_one_host = false;
};

// Why this one cannot be taken; null: it can.
const char* refusal(const Interface& interface, const InterfaceWish& wish) noexcept;
// An address of those that can be taken.
std::optional<Address> choose(const std::vector<Interface>& all, const InterfaceWish& wish);
// Each of them with why it was not taken; those of another name than the wanted one come last.
std::string refusals(const std::vector<Interface>& all, const InterfaceWish& wish);

}  // namespace photon::boot
