// The hosts of `photonrun -H`, and how many ranks each of them gets.
// Owner: none (values and functions).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace photonrun {

struct HostSlots {
  std::string name;  // as ssh takes it: node1, user@node1, 10.0.0.1, ::1 (without brackets)
  unsigned slots = 1;

  // Started without ssh: "localhost", or this host's own name.
  bool is_here() const;
  // Without the user.
  std::string host() const;
};

// "node1,user@node2:4,[::1]:2". Throws std::runtime_error: what is wrong with it.
std::vector<HostSlots> parse_host_list(std::string_view text);

unsigned slots_of(const std::vector<HostSlots>& hosts);

// Ranks of each host: their slots are filled in order, then a second time, and so on.
std::vector<unsigned> spread(const std::vector<HostSlots>& hosts, unsigned ranks);

}  // namespace photonrun
