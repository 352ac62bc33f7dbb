#include "host_list.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "host_handshake.hpp"

namespace photonrun {
namespace {

[[noreturn]] void refuse(std::string_view item, std::string_view why) {
  throw std::runtime_error(fmt::format("\"{}\": {}", item, why));
}

unsigned slots_in(std::string_view item, std::string_view text) {
  const bool digits = !text.empty() && text.size() <= 5 && std::ranges::all_of(text, [](char one) {
    return std::isdigit(static_cast<unsigned char>(one)) != 0;
  });
  const unsigned slots = digits ? static_cast<unsigned>(std::stoul(std::string(text))) : 0;
  if (slots == 0 || slots > kMaxRanks) {
    refuse(item, fmt::format("after the colon stands how many ranks, 1 to {}", kMaxRanks));
  }
  return slots;
}

// What ssh would take for an option, or a shell for more than one word, is no host.
bool is_name(std::string_view name) {
  return !name.empty() && name.front() != '-' && name.front() != '@' && name.back() != '@' &&
         std::ranges::all_of(name, [](char one) {
           return std::isalnum(static_cast<unsigned char>(one)) != 0 ||
                  std::string_view("-._@:%").find(one) != std::string_view::npos;
         });
}

HostSlots parse_item(std::string_view item) {
  if (item.empty()) refuse(item, "a host is missing: -H HOST[:SLOTS],HOST[:SLOTS]...");
  const std::size_t open = item.find('[');
  const std::size_t close = item.find(']');
  HostSlots host;
  std::string_view rest;
  if (open != std::string_view::npos && close != std::string_view::npos && open < close) {
    host.name = fmt::format("{}{}", item.substr(0, open), item.substr(open + 1, close - open - 1));
    rest = item.substr(close + 1);
    if (!rest.empty() && rest.front() != ':') refuse(item, "is not HOST[:SLOTS]");
  } else {
    const std::size_t colon = std::min(item.find(':'), item.size());
    host.name = item.substr(0, colon);
    rest = item.substr(colon);
    if (rest.find(':', 1) != std::string_view::npos) {
      refuse(item, "is not HOST[:SLOTS] (an IPv6 address in brackets: [::1]:4)");
    }
  }
  if (!is_name(host.name)) refuse(item, "is no name of a host");
  if (!rest.empty()) host.slots = slots_in(item, rest.substr(1));
  return host;
}

}  // namespace

std::string HostSlots::host() const { return name.substr(name.rfind('@') + 1); }

bool HostSlots::is_here() const {
  char own[256] = "";
  (void)::gethostname(own, sizeof own - 1);
  const std::string full = own;
  return name == "localhost" || name == full || name == full.substr(0, full.find('.'));
}

std::vector<HostSlots> parse_host_list(std::string_view text) {
  std::vector<HostSlots> hosts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    HostSlots host = parse_item(text.substr(at, comma - at));
    const bool is_twice =
        std::ranges::any_of(hosts, [&](const HostSlots& other) { return other.name == host.name; });
    if (is_twice) refuse(text, fmt::format("{0} stands there twice; say {0}:2", host.name));
    hosts.push_back(std::move(host));
    at = comma + 1;
  }
  if (slots_of(hosts) > kMaxRanks) refuse(text, fmt::format("more than {} slots", kMaxRanks));
  return hosts;
}

unsigned slots_of(const std::vector<HostSlots>& hosts) {
  std::size_t slots = 0;
  for (const HostSlots& host : hosts) slots += host.slots;
  return static_cast<unsigned>(std::min<std::size_t>(slots, kMaxRanks + 1));
}

std::vector<unsigned> spread(const std::vector<HostSlots>& hosts, unsigned ranks) {
  std::vector<unsigned> counts(hosts.size(), 0);
  while (ranks > 0) {
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      const unsigned more = std::min(ranks, hosts[i].slots);
      counts[i] += more;
      ranks -= more;
    }
  }
  return counts;
}

}  // namespace photonrun
