#include "boot/interfaces.hpp"

#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <memory>

namespace photon::boot {

namespace {

bool is_link_local(const Address& address) noexcept {
  return address.family == 6 && address.bytes[0] == std::byte{0xfe} &&
         (address.bytes[1] & std::byte{0xc0}) == std::byte{0x80};
}

Interface& entry_of(std::vector<Interface>& all, const ifaddrs& one) {
  const auto found = std::ranges::find(all, std::string_view(one.ifa_name), &Interface::name);
  if (found != all.end()) return *found;
  return all.emplace_back(Interface{.name = one.ifa_name,
                                    .is_up = (one.ifa_flags & IFF_UP) != 0,
                                    .is_running = (one.ifa_flags & IFF_RUNNING) != 0,
                                    .is_loopback = (one.ifa_flags & IFF_LOOPBACK) != 0});
}

bool is_another(const Interface& interface, const InterfaceWish& wish) noexcept {
  return wish.name != "auto" && interface.name != wish.name;
}

std::string text_of(const Interface& interface) {
  std::string text = interface.name;
  for (const Address& address : interface.addresses) {
    const std::string with_port = address.text();
    text += " " + with_port.substr(0, with_port.rfind(':'));
  }
  return text;
}

}  // namespace

// The system names an interface once for its link, whatever addresses it has, and once for each.
base::Result<std::vector<Interface>> interfaces() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return base::system_error("list the network interfaces");
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(first, &::freeifaddrs);
  std::vector<Interface> found;
  for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
    Interface& interface = entry_of(found, *one);
    if (one->ifa_addr == nullptr) continue;
    const Address address = from_socket(*one->ifa_addr);
    if (address.family != 0) interface.addresses.push_back(address);
  }
  return found;
}

const char* refusal(const Interface& interface, const InterfaceWish& wish) noexcept {
  if (is_another(interface, wish)) return "is another";
  if (!interface.is_up) return "is down";
  if (interface.addresses.empty()) return "has no IPv4 or IPv6 address";
  if (std::ranges::all_of(interface.addresses, is_link_local))
    return "has only an address of its link (fe80::), which other hosts cannot be told";
  if (wish.name != "auto") return nullptr;
  if (interface.is_loopback && !wish.is_one_host)
    return "is the loopback, which ranks on other hosts cannot reach";
  if (!interface.is_loopback && wish.is_one_host)
    return "is no loopback, and all ranks are on this host";
  return nullptr;
}

std::vector<Address> choose(const std::vector<Interface>& all, const InterfaceWish& wish,
                            std::span<const Address> preferred) {
  struct Ranked {
    std::size_t rank;
    Address address;
  };
  std::vector<Ranked> found;
  for (const Interface& interface : all) {
    if (refusal(interface, wish) != nullptr) continue;
    for (const Address& address : interface.addresses) {
      if (is_link_local(address)) continue;
      const auto place = std::ranges::find_if(
          preferred, [&](const Address& one) { return one.is_same_host(address); });
      std::size_t rank = static_cast<std::size_t>(place - preferred.begin());
      if (place == preferred.end())
        rank += (interface.is_running ? 0U : 2U) + (address.family == 4 ? 0U : 1U);
      found.push_back({rank, address});
    }
  }
  std::ranges::stable_sort(found, {}, &Ranked::rank);
  if (wish.name == "auto" && wish.is_one_host && !found.empty()) found.resize(1);
  std::vector<Address> chosen;
  chosen.reserve(found.size());
  for (const Ranked& one : found) chosen.push_back(one.address);
  return chosen;
}

std::string refusals(const std::vector<Interface>& all, const InterfaceWish& wish) {
  std::string text;
  for (const bool others : {false, true})
    for (const Interface& interface : all) {
      const char* why = refusal(interface, wish);
      if (why == nullptr || is_another(interface, wish) != others) continue;
      text += (text.empty() ? "" : "; ") + text_of(interface) + " " + why;
    }
  return text.empty() ? "there is none" : text;
}

}  // namespace photon::boot
