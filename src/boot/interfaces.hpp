// The network interfaces of this machine, and which of them a rank listens at.
//
//   every interface -- refusal() null --> its addresses are taken, in the order of choose()
//                   -- else -----------> named in the error with its reason, if none is left
//
// Owner: none (values and functions).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "boot/net_address.hpp"

namespace photon::boot {

struct Interface {
  std::string name;
  bool is_up = false;
  bool is_running = true;  // as far as its driver says: there is a carrier
  bool is_loopback = false;
  std::vector<Address> addresses;  // of IPv4 and IPv6, in the system's order
};

// Those of this network namespace, in the system's order; up or not, with addresses or not.
base::Result<std::vector<Interface>> interfaces();

// Those among words with blanks between them.
std::vector<Address> addresses_of(std::string_view words);

// What is wanted of one: the setting tcp_interface, "auto" or a name, and for "auto" whether all
// ranks of the job are on this host.
struct InterfaceWish {
  std::string_view name;
  bool is_one_host = false;
};

// Why this one cannot be taken; null: it can.
const char* refusal(const Interface& interface, const InterfaceWish& wish) noexcept;
// The addresses of those that can be taken: the preferred ones first, then those of interfaces that
// run, then of IPv4, then in the system's order. Of one host's loopback the first is enough.
std::vector<Address> choose(const std::vector<Interface>& all, const InterfaceWish& wish,
                            std::span<const Address> preferred = {});
// Each of them with why it was not taken; those of another name than the wanted one come last.
std::string refusals(const std::vector<Interface>& all, const InterfaceWish& wish);

}  // namespace photon::boot
